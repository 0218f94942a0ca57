// Distributes a suite's budget of evaluations among its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/engine/expected_gain.hpp>

namespace kernelsmith {

/// Numbers of evaluations: the total, each task's first share, and each further share.
struct Allocation {
  std::uint64_t total = 0;
  std::uint64_t opening = 1;
  std::uint64_t slice = 1;

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// The shares that docs/search-quality.md measures: each task first gets half of the rounds, then a quarter
/// at a time.
Allocation adaptive_allocation(std::uint64_t rounds, std::uint64_t tasks);

/// The state of one task.
struct TaskStanding {
  std::uint64_t granted = 0;  ///< the budget of its search; 0 before it begins
  std::uint64_t used = 0;     ///< evaluations that its search has made; the last confirmations may exceed the
                              ///< budget
  bool interrupted = false;   ///< its search has more to do under this budget
  /// Its search cannot use more evaluations: it failed, found nothing new, or used up another budget.
  bool ended = false;
  /// A task is flat if the whole rest of the total is expected to raise its best by less than this many
  /// percent (Budgets::until_flat).
  std::optional<double> until_flat = std::nullopt;
  std::vector<Improvement> improvements = {};
};

/// The next task to search, and its new limit of evaluations.
struct Grant {
  std::size_t task = 0;
  std::uint64_t evaluations = 0;

  friend bool operator==(const Grant&, const Grant&) = default;
};

/// First each task, in order, gets its opening share. Then an interrupted share is used up. Then the next
/// slice goes to the task with the largest expected gain per evaluation, or to the first of equals. Empty
/// when the total is used up, or if every task has ended or is flat. What an ended task does not use goes to
/// the others. Pure, so an interrupted suite continues as if it had not been interrupted.
std::optional<Grant> next_grant(std::span<const TaskStanding> tasks, const Allocation& allocation);

}  // namespace kernelsmith
