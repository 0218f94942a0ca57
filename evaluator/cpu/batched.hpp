// Short calls are timed several at once, and a kernel that does the work of all in the first of them can
// overlap what one call by itself has to do in sequence. That is no speed of the kernel. Pure functions.
#pragma once

#include "abba.hpp"

namespace kernelsmith {

/// What the pairs seem to gain beyond those whose calls were shown one by one, and chance, is taken off. What
/// they gain beyond lone pairs and chance puts these in their place, less what being alone costs `b`. False
/// where the ones that would be believed are too few to make a score: then the others are kept, and no score
/// should be. `b` is trusted, or is to be looked at likewise.
[[nodiscard]] bool leave_out_batched(AbbaRatios& pairs);

}  // namespace kernelsmith
