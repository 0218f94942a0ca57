// The check: whether a kernel is correct, before anything is timed.
#pragma once

#include <cstddef>
#include <vector>

#include "judge/player.hpp"

namespace kernelsmith::judge {

/// How many of the bank's sets the check uses: all sets of a check shape, and the first kCheckSetsOfTimed of
/// a timed one. The timed calls use the others.
std::size_t check_sets(const Context& context, std::size_t shape);

/// Runs and compares the check's sets at every shape, the check shapes first, because odd sizes find most
/// mistakes. Leaves the player open in place 0. Sets `correct` for each shape reached. `yardstick_us`, by
/// timed shape, decides which calls are `too_slow`; if it is empty, none is.
Judged<void> check_all_shapes(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                              std::vector<ShapeResult>& results);

/// Does check_all_shapes(), and repeats the last batch in a second session unless the task allows randomness.
Judged<void> check_twice(Player& player, const Context& context, const std::vector<double>& yardstick_us,
                         std::vector<ShapeResult>& results);

}  // namespace kernelsmith::judge
