// What fuzz targets check beside not crashing.
#pragma once

#include <cstdlib>

namespace kernelsmith {

/// Ends the program if a property does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace kernelsmith
