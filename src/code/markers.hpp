// The lines that mark EVOLVE-BLOCKs.
#pragma once

#include <string_view>

namespace kernelsmith::detail {

enum class Marker {
  none,
  start,
  end,
  misplaced,  ///< a marker in a comment that shares its line with code or is not closed
};

/// The kind of `line` (with or without its newline).
Marker marker_of(std::string_view line);

}  // namespace kernelsmith::detail
