// How a suite hands one budget of evaluations out to its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/engine/expected_gain.hpp>

namespace kernelsmith {

/// Evaluations: all of them, those that each task gets first, and those of one further share.
struct Allocation {
  std::uint64_t total = 0;
  std::uint64_t opening = 1;
  std::uint64_t slice = 1;

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// The shares that docs/search-quality.md measures: half of the rounds first, and then a quarter at a time.
Allocation adaptive_allocation(std::uint64_t rounds, std::uint64_t tasks);

/// How one task stands.
struct TaskStanding {
  std::uint64_t granted = 0;  ///< the budget of its search; 0 before it has begun
  std::uint64_t used = 0;     ///< evaluations that it made; the last confirmations may exceed the budget
  bool interrupted = false;   ///< its search has more to do under this budget
  /// It cannot go on with more evaluations: it failed, found nothing new, or used up another budget.
  bool ended = false;
  /// It is flat if all that is left of the total is expected to raise its best by less than so many percent
  /// (Budgets::until_flat).
  std::optional<double> until_flat = std::nullopt;
  std::vector<Improvement> improvements = {};
};

/// The task that searches next, and how many evaluations it may have made then.
struct Grant {
  std::size_t task = 0;
  std::uint64_t evaluations = 0;

  friend bool operator==(const Grant&, const Grant&) = default;
};

/// First each task gets its opening share, in their order; then a share that was interrupted is used up; then
/// the next slice goes to the task of which it is expected to gain most per evaluation, of equal ones to the
/// first. Empty when the total is handed out, or if every task has ended or is flat. What an ended task did
/// not use is left for the others. Pure: a suite that was interrupted goes on as if it had not been.
std::optional<Grant> next_grant(std::span<const TaskStanding> tasks, const Allocation& allocation);

}  // namespace kernelsmith
