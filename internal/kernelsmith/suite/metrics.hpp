// Results of searching or scoring many tasks: one for each task, and the metrics that papers report, for each
// level and for all tasks.
#pragma once

#include <array>
#include <cstdint>
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
  std::string by;       ///< its publisher; empty: unknown
  double claimed = 0;   ///< the publisher's claimed speedup; 0: none
  std::string verdict;  ///< "accepted", stage and code of the rejection, or "not evaluated: " and a code
  std::optional<Measurement> speedup;         ///< set if it was accepted, as are the next three
  std::optional<bool> own_kernels;            ///< false: it uses only PyTorch's operators
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
  /// An output of the reference does not depend on the inputs: a constant would pass.
  bool degenerate = false;
  bool algebraic = false;  ///< the best leaves out work of the reference, according to the backend
  SuiteCost cost;
  /// The best speedup so far after each evaluation; 0 while nothing was accepted.
  std::vector<double> best_by_round;
  std::vector<CandidateResult> of_candidates;  ///< of a scoring: all candidates, in order
  std::string failure;  ///< if nothing was accepted: why the candidate with the furthest stage was rejected
  std::optional<Error> error;  ///< why the task could not be loaded, prepared or searched completely

  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

/// The figures of a set of tasks. A task with an error counts as not solved. Rates are 0 to 1.
struct SuiteMetrics {
  std::optional<unsigned> level;  ///< empty: all tasks
  std::uint64_t tasks = 0;
  std::uint64_t errors = 0;                           ///< tasks with an error
  double corr = 0;                                    ///< share of correct tasks
  std::array<double, kFastThresholds.size()> fast{};  ///< share of tasks that are correct and faster than p
  /// Mean speedup over all tasks; an incorrect or slower one counts 0.
  double amsr = 0;
  std::optional<double> geomean;       ///< over correct tasks; empty without any, or if one is not positive
  std::optional<double> median;        ///< over correct tasks; empty without any
  std::optional<double> hack_rate;     ///< of all candidates; empty without any
  std::optional<double> trivial_rate;  ///< of correct tasks; empty without any
  SuiteCost cost;
  /// `amsr` if every search had ended after this many evaluations.
  std::vector<double> amsr_by_round;

  friend bool operator==(const SuiteMetrics&, const SuiteMetrics&) = default;
};

/// The results that are neither `degenerate` nor `algebraic`: gains in these are not faster kernels. Pure.
std::vector<TaskResult> without_shortcuts(std::span<const TaskResult> results);

/// The metrics of each level, in ascending order, and of all tasks together. Pure.
std::vector<SuiteMetrics> summarise(std::span<const TaskResult> results);

}  // namespace kernelsmith
