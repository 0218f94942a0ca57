#include "judge/check.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "judge/constants.hpp"

namespace kernelsmith::judge {
namespace {

Judged<double> run_and_compare(Player& player, std::size_t shape, std::span<const std::size_t> sets) {
  auto call_us = player.run(shape, sets);
  if (!call_us) return call_us;
  if (auto right = player.compare(Values::shown); !right) return right.error();
  return call_us;
}

/// Runs and compares a shape's calls, and returns the time of a call. The first call is not timed, because it
/// may make tables for the others.
Judged<double> check_shape(Player& player, const Context& context, std::size_t shape) {
  std::vector<std::size_t> all(check_sets(context, shape));
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::span<const std::size_t> sets(all);
  auto call_us = run_and_compare(player, shape, sets.first(1));
  if (!call_us) return call_us;
  const std::size_t most = *call_us < kQuickCallUs ? sets.size() : std::min<std::size_t>(2, sets.size());
  const std::size_t capacity = std::max<std::size_t>(context.capacity(shape), 1);
  for (std::size_t done = 1; done < most && call_us;) {
    const std::size_t calls = std::min(most - done, capacity);
    call_us = run_and_compare(player, shape, sets.subspan(done, calls));
    done += calls;
  }
  return call_us;
}

Judged<void> fast_enough(double call_us, double yardstick_us, const TaskShape& shape) {
  if (call_us < std::max(kLongCallUs, kHopeless * yardstick_us)) return {};
  return reject(Stage::timing, RejectionCode::too_slow,
                "a call at " + where(shape) + " takes " + std::to_string(static_cast<int>(call_us / 1e3)) +
                    " ms, " + std::to_string(static_cast<int>(call_us / yardstick_us)) +
                    " times as long as the yardstick's");
}

}  // namespace

std::size_t check_sets(const Context& context, std::size_t shape) {
  const std::size_t sets = context.sets(shape).size();
  return context.shapes[shape].timed ? std::min(kCheckSetsOfTimed, sets) : sets;
}

Judged<void> check_all_shapes(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                              std::vector<ShapeResult>& results) {
  if (auto opened = player.open(0); !opened) return opened;
  for (std::size_t shape = context.shapes.size(); shape-- > 0;) {
    const auto call_us = check_shape(player, context, shape);
    results[shape].correct = call_us.has_value();
    if (!call_us) return call_us.error();
    if (shape >= yardstick_us.size()) continue;
    if (auto fast = fast_enough(*call_us, yardstick_us[shape], context.shapes[shape]); !fast) return fast;
  }
  return {};
}

Judged<void> check_twice(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                         std::vector<ShapeResult>& results) {
  if (auto checked = check_all_shapes(player, context, yardstick_us, results); !checked) return checked;
  if (context.task.nondeterministic) return {};
  return player.repeat_elsewhere(1 % context.host.traits().places);
}

}  // namespace kernelsmith::judge
