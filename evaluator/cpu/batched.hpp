// Short calls are timed several at once, and a kernel that does the work of all in the first of them can
// overlap what one call by itself has to do in sequence. That is no speed of the kernel. Pure functions.
#pragma once

#include "abba.hpp"

namespace kernelsmith {

/// Puts the lone pairs, less what being alone costs `b`, in the place of the others where `a` is faster in
/// batches than they and chance explain. False where they are too few to be all that a score is made of: then
/// the others are kept, and no score should be. `b` is trusted, or is to be looked at likewise.
[[nodiscard]] bool leave_out_batched(AbbaRatios& pairs);

}  // namespace kernelsmith
