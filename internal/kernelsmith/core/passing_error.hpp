// Errors that pass by themselves: whoever meets one asks again a little later.
#pragma once

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

/// A noisy machine comes to rest; a neighbour gives a device back.
inline bool passes_by_itself(ErrorCode code) {
  return code == ErrorCode::unstable || code == ErrorCode::busy;
}

}  // namespace kernelsmith
