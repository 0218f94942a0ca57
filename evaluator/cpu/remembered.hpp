// A bank that is small for the number of pairs shows its sets to several processes of a candidate. Nothing is
// known by which one process could tell the next what comes of them; should there be a way, this keeps it
// from paying. Pure functions.
#pragma once

#include "abba.hpp"

namespace kernelsmith {

/// Leaves out the pairs on sets that an earlier process of `a` had met, where `a` is faster on them than
/// chance and placement explain beside the others. False where the others are none, or too few to be all that
/// a score is made of: then all are kept, and no score should be. Of the pairs that show one call at a time
/// likewise, where there are others at all: those are no score, they bound one, and a bound that was raised
/// bounds nothing.
[[nodiscard]] bool leave_out_remembered(AbbaRatios& pairs);

/// The same pairs with a and b exchanged.
AbbaRatios seen_from_b(AbbaRatios pairs);

}  // namespace kernelsmith
