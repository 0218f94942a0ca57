// When a shape has been measured enough. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace kernelsmith::timing {

struct StoppingRule {
  std::size_t least = 8;     ///< samples always taken
  std::size_t most = 16;     ///< nothing is added beyond these
  double target = 0.015;     ///< relative half width of the ratios' interval that suffices
  double clearly_worse = 0;  ///< an interval that ends below this suffices, however wide
};

/// Whether the ratios suffice, which took `spent_us` to measure.
bool enough(std::span<const double> ratios, double spent_us, const StoppingRule& rule);

}  // namespace kernelsmith::timing
