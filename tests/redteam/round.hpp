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
  Standing standing = Standing::held;
  std::string note;  ///< what the evaluator said, or why the case is open
  bool honest = false;
  std::size_t retries = 0;       ///< after Error{unstable}
  std::size_t second_looks = 0;  ///< after a trick seemed a little faster than its twin
  std::size_t leaks = 0;
  double seconds = 0;
};

/// The rows, and one more for each thing that was left behind. With `unsandboxed` the tricks run free: to see
/// that they work where nothing holds them.
std::vector<Row> run_round(const std::filesystem::path& tasks, const std::vector<Case>& cases, Plants& plants,
                           bool unsandboxed);

}  // namespace kernelsmith::redteam
