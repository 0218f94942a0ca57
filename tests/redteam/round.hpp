// One round of the red team: every case evaluated once, judged against what it declares.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "case_file.hpp"
#include "plants.hpp"

namespace kernelsmith::redteam {

enum class Standing {
  held,      ///< what was declared happened
  open,      ///< it did not, and the case says why
  unstable,  ///< no verdict: the machine was too noisy, retries included
  failed,    ///< it did not
};

/// One case in one round.
struct Row {
  std::string name, task;
  std::string must, got;
  std::string verdict;  ///< `got` without its figures
  Standing standing = Standing::held;
  std::string note;  ///< what the evaluator said, or why the case is open
  bool honest = false;
  std::size_t retries = 0;       ///< after Error{unstable}
  std::size_t second_looks = 0;  ///< after a trick seemed a little faster than its twin
  std::size_t leaks = 0;
  bool left_behind = false;  ///< no case, but something that is still there after the round
  double seconds = 0;
};

/// What holds the tricks.
enum class Hold {
  full,         ///< all that this machine has
  weak,         ///< no cgroup, so that seccomp, SIGSTOP and the process's own clock have to do
  unsandboxed,  ///< nothing: to see that they work
};

/// The rows, and one more for each thing that was left behind.
std::vector<Row> run_round(const std::filesystem::path& tasks, const std::vector<Case>& cases, Plants& plants,
                           Hold hold);

}  // namespace kernelsmith::redteam
