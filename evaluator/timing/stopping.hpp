// When a shape has been measured enough. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace kernelsmith::timing {

struct StoppingRule {
  std::size_t least = 8;        ///< samples always taken
  std::size_t most_rounds = 4;  ///< nothing is added beyond these
  double target = 0.015;        ///< relative half width of the ratios' interval that suffices
  double clearly_worse = 0;     ///< an interval that ends below this suffices, however wide
};

/// What was measured at a shape so far.
struct Progress {
  std::span<const double> ratios;
  std::size_t rounds = 0;
  double spent_us = 0;  ///< in all players' calls
};

bool enough(const Progress& so_far, const StoppingRule& rule);

}  // namespace kernelsmith::timing
