// The check: whether a kernel is right, before anything is timed.
#pragma once

#include <cstddef>
#include <vector>

#include "judge/player.hpp"

namespace kernelsmith::judge {

/// The sets of the bank that serve the check: all of a check shape, the first kCheckSetsOfTimed of a timed
/// one. The timed calls take the others.
std::size_t check_sets(const Context& context, std::size_t shape);

/// Runs and compares the check's sets at every shape, the check shapes first: odd sizes find most mistakes.
/// Leaves the player open in place 0. `correct` is set for each shape reached. `yardstick_us`, by timed
/// shape, is what `too_slow` goes by; empty: nobody is too slow.
Judged<void> check_all_shapes(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                              std::vector<ShapeResult>& results);

/// The same, and the last batch again in a second session, unless the task allows chance.
Judged<void> check_twice(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                         std::vector<ShapeResult>& results);

}  // namespace kernelsmith::judge
