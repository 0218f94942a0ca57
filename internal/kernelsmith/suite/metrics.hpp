// Results of searching or scoring many tasks: one result for each task, and the metrics that papers report,
// for each level and for all tasks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// The thresholds p of fast_p.
inline constexpr std::array<double, 5> kFastThresholds = {0, 1, 1.2, 1.5, 2};

/// The cost of calls to models.
struct SuiteCost {
  std::uint64_t calls = 0;
  std::uint64_t unpriced = 0;  ///< calls with an unknown price
  std::uint64_t input_tokens = 0, output_tokens = 0;
  double usd = 0;  ///< cost of the calls with a price

  SuiteCost& operator+=(const SuiteCost& other);
  friend bool operator==(const SuiteCost&, const SuiteCost&) = default;
};

/// The result of one ready-made candidate. A value.
struct CandidateResult {
  std::string name;     ///< the path of its file
  std::string by;       ///< its publisher; empty if unknown
  double claimed = 0;   ///< the speedup that the publisher claims; 0 if there is none
  std::string verdict;  ///< "accepted", the stage and code of the rejection, or "not evaluated: " and a code
  std::optional<Measurement> speedup;         ///< this and the next three are set if it was accepted
  std::optional<bool> own_kernels;            ///< if false, it uses only PyTorch's operators
  std::optional<bool> degenerate, algebraic;  ///< as in TaskResult
  std::optional<Error> error;                 ///< why it was not evaluated

  friend bool operator==(const CandidateResult&, const CandidateResult&) = default;
};

/// The result of one task. A value.
struct TaskResult {
  std::string name;  ///< the path within the tasks' folder, such as "level1/softmax"
  unsigned level = 0;
  std::string basis;     ///< hexadecimal digest of the searched or scored task; a change needs a new result
  bool correct = false;  ///< a candidate was accepted
  /// The best candidate's speedup over the baseline; its fitness if the backend measures no times. Set if
  /// `correct`.
  std::optional<Measurement> speedup;
  std::uint64_t candidates = 0;  ///< programs that were evaluated
  std::uint64_t hacks = 0;       ///< number of these that were rejected for manipulating the measurement
  bool trivial = false;          ///< the best gains only by a trivial optimisation, according to the backend
  /// An output of the reference does not depend on the inputs, so a constant would pass.
  bool degenerate = false;
  bool algebraic = false;  ///< the best leaves out work of the reference, according to the backend
  SuiteCost cost;
  /// The best speedup so far after each evaluation; 0 while nothing was accepted.
  std::vector<double> best_by_round;
  std::vector<CandidateResult> of_candidates;  ///< only for scoring: all candidates, in order
  std::string failure;  ///< if nothing was accepted: why the candidate that got furthest was rejected
  /// Only for scoring, one line: that rejection's diagnostics or, if one was accepted, what the backend notes
  /// about the reference, such as that its time includes its launches.
  std::string reason;
  double wall_s = 0;  ///< only for scoring: from loading the task to its last candidate's answer
  /// Only for scoring: the time by step, and "other" for the rest. Its sum is `wall_s`, or more if several
  /// candidates were evaluated at once.
  std::map<std::string, double> spent_s;
  std::string memory;          ///< device memory that the task needs, such as "7.2 GiB"; empty if unknown
  std::optional<Error> error;  ///< why the task could not be loaded, prepared or searched completely

  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

/// The metrics of a set of tasks. A task with an error counts as not solved. Rates are from 0 to 1.
struct SuiteMetrics {
  std::optional<unsigned> level;  ///< the level; empty for all tasks
  std::uint64_t tasks = 0;
  std::uint64_t errors = 0;                           ///< tasks with an error
  double corr = 0;                                    ///< share of correct tasks
  std::array<double, kFastThresholds.size()> fast{};  ///< share of tasks that are correct and faster than p
  /// Mean speedup over all tasks. A task that is not correct, or slower than the baseline, counts 0.
  double amsr = 0;
  std::optional<double> geomean;       ///< over correct tasks; empty if there are none, or if a speedup is
                                       ///< not positive
  std::optional<double> median;        ///< over correct tasks; empty if there are none
  std::optional<double> hack_rate;     ///< share of all candidates; empty if there are none
  std::optional<double> trivial_rate;  ///< share of correct tasks; empty if there are none
  SuiteCost cost;
  /// What `amsr` would be if every search had ended after 1, 2, 3, ... evaluations.
  std::vector<double> amsr_by_round;

  friend bool operator==(const SuiteMetrics&, const SuiteMetrics&) = default;
};

/// The results that are neither `degenerate` nor `algebraic`, because a gain in such a result does not mean a
/// faster kernel. Pure.
std::vector<TaskResult> without_shortcuts(std::span<const TaskResult> results);

/// The metrics of each level, in ascending order, and of all tasks together. Pure.
std::vector<SuiteMetrics> summarise(std::span<const TaskResult> results);

}  // namespace kernelsmith
