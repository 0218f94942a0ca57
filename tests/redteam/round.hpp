// One round of the red team: every case evaluated once, judged against what it declares.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

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
  std::optional<double> over_twin;  ///< of an accepted trick: its score over its twin's
};

/// How a backend is attacked.
struct Attack {
  /// Makes the evaluator of one task; it serves all of the task's cases.
  std::function<Result<std::shared_ptr<Evaluator>>(const Task&)> make_evaluator;
  /// In which nothing may be measured: a round that was to be weak proves nothing if a cgroup was used
  /// after all. Empty: none.
  std::string forbidden_tier;
  /// There is no device: what is compiled and planned ends with Error{unsupported}, and only cases that must
  /// have been turned away by then can fail.
  bool plan_only = false;
  /// Cases on their way together: one is compiled, or waits for its time limit, while another runs.
  std::size_t at_once = 1;
  /// Whether a task's cases are evaluated with care; empty: none.
  std::function<bool(const Task&)> careful;
  /// What task files may say; empty: tasks of kernels.
  Backends backends = {};
};

/// Tells each row when it is known, one at a time, and one more for each thing that was left behind.
void run_round(const std::filesystem::path& tasks, const std::vector<Case>& cases, Plants& plants,
               const Attack& attack, const std::function<void(const Row&)>& tell);

}  // namespace kernelsmith::redteam
