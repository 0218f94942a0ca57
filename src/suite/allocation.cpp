#include <algorithm>

#include <kernelsmith/suite/allocation.hpp>

namespace kernelsmith {
namespace {

std::uint64_t taken_by(const TaskStanding& task) {
  return task.ended ? task.used : std::max(task.used, task.granted);
}

std::uint64_t left_of(std::span<const TaskStanding> tasks, std::uint64_t total) {
  std::uint64_t taken = 0;
  for (const TaskStanding& task : tasks) taken += taken_by(task);
  return total > taken ? total - taken : 0;
}

bool is_flat(const TaskStanding& task, std::uint64_t left) {
  return task.until_flat && expected_gain(task.improvements, task.used, left).percent < *task.until_flat;
}

}  // namespace

Allocation adaptive_allocation(std::uint64_t rounds, std::uint64_t tasks) {
  constexpr std::uint64_t kOpeningPart = 2, kSlicePart = 4;
  const auto part = [&](std::uint64_t of) { return std::max<std::uint64_t>(rounds / of, 1); };
  return {rounds * tasks, part(kOpeningPart), part(kSlicePart)};
}

std::optional<Grant> next_grant(std::span<const TaskStanding> tasks, const Allocation& allocation) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (!tasks[i].ended && tasks[i].granted == 0) return Grant{i, allocation.opening};
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (!tasks[i].ended && tasks[i].interrupted) return Grant{i, tasks[i].granted};
  const std::uint64_t left = left_of(tasks, allocation.total);
  const std::uint64_t slice = std::min(allocation.slice, left);
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; slice > 0 && i < tasks.size(); ++i) {
    if (tasks[i].ended || is_flat(tasks[i], left)) continue;
    // Compares gains and not gains per evaluation, because all slices have the same size.
    const double gain = expected_log_gain(tasks[i].improvements, tasks[i].used, slice);
    if (best && gain <= most) continue;
    best = i;
    most = gain;
  }
  if (!best) return std::nullopt;
  return Grant{*best, taken_by(tasks[*best]) + slice};
}

}  // namespace kernelsmith
