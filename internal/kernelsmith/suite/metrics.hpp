// What a search or a scoring of many tasks came to: one result for each task, and the figures that papers
// give, for each level and for all tasks together.
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

/// The p of fast_p.
inline constexpr std::array<double, 5> kFastThresholds = {0, 1, 1.2, 1.5, 2};

/// What calls to models cost.
struct SuiteCost {
  std::uint64_t calls = 0;
  std::uint64_t unpriced = 0;  ///< of the calls, those whose price is unknown
  std::uint64_t input_tokens = 0, output_tokens = 0;
  double usd = 0;  ///< of the calls with a price

  SuiteCost& operator+=(const SuiteCost& other);
  friend bool operator==(const SuiteCost&, const SuiteCost&) = default;
};

/// How one ready-made candidate did. A value.
struct CandidateResult {
  std::string name;     ///< its file, as it was found
  std::string by;       ///< who published it; empty: nobody has said
  double claimed = 0;   ///< the speedup that they claim; 0: none
  std::string verdict;  ///< "accepted", stage and code of the rejection, or "not evaluated: " and a code
  std::optional<Measurement> speedup;         ///< set if it was accepted, as are the next three
  std::optional<bool> own_kernels;            ///< false: PyTorch's operators alone do the work
  std::optional<bool> degenerate, algebraic;  ///< TaskResult's
  std::optional<Error> error;                 ///< why it was not evaluated

  friend bool operator==(const CandidateResult&, const CandidateResult&) = default;
};

/// How one task ended. A value.
struct TaskResult {
  std::string name;  ///< the path within the tasks' folder, such as "level1/softmax"
  unsigned level = 0;
  std::string basis;  ///< hexadecimal digest of what was searched or scored; another one needs a new result
  bool correct = false;  ///< a candidate was accepted
  /// Of the best candidate over the baseline, a ratio; of a backend that times nothing, its fitness. Set
  /// if `correct`.
  std::optional<Measurement> speedup;
  std::uint64_t candidates = 0;  ///< programs that were evaluated
  std::uint64_t hacks = 0;       ///< of them, those that were rejected for what they did to the measurement
  bool trivial = false;          ///< the best gains by a trivial optimisation only, as the backend sees it
  bool degenerate = false;       ///< no input moves an output of the reference: a constant would do
  bool algebraic = false;        ///< the best leaves out work of the reference, as the backend sees it
  SuiteCost cost;
  /// The best speedup that had been measured after each evaluation; 0 while nothing was accepted.
  std::vector<double> best_by_round;
  std::vector<CandidateResult> of_candidates;  ///< of a scoring: each, in their order
  std::string failure;         ///< if nothing was accepted: why the candidate that got furthest was rejected
  std::optional<Error> error;  ///< the task could not be loaded, prepared or searched to its end

  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

/// The figures of a set of tasks. A task with an error counts as not solved. Rates are 0 to 1.
struct SuiteMetrics {
  std::optional<unsigned> level;  ///< empty: all tasks
  std::uint64_t tasks = 0;
  std::uint64_t errors = 0;                           ///< tasks with an error
  double corr = 0;                                    ///< share of tasks that are correct
  std::array<double, kFastThresholds.size()> fast{};  ///< share of tasks that are correct and faster than p
  /// Mean speedup over all tasks; one that is incorrect or slower than the baseline counts 0.
  double amsr = 0;
  std::optional<double> geomean;       ///< over correct tasks; empty without any, or if one is not positive
  std::optional<double> median;        ///< over correct tasks; empty without any
  std::optional<double> hack_rate;     ///< of all candidates; empty without any
  std::optional<double> trivial_rate;  ///< of correct tasks; empty without any
  SuiteCost cost;
  /// What `amsr` would be had every search ended after so many evaluations, by what it had measured then.
  std::vector<double> amsr_by_round;

  friend bool operator==(const SuiteMetrics&, const SuiteMetrics&) = default;
};

/// Those that are neither `degenerate` nor `algebraic`: what is gained there is no faster kernel. Pure.
std::vector<TaskResult> without_shortcuts(std::span<const TaskResult> results);

/// The metrics of each level that occurs, from the lowest on, and of all tasks together. Pure.
std::vector<SuiteMetrics> summarise(std::span<const TaskResult> results);

}  // namespace kernelsmith
