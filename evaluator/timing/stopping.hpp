// Decides when a shape has enough measurements. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace kernelsmith::timing {

struct StoppingRule {
  std::size_t least = 8;        ///< minimum of samples
  std::size_t most_rounds = 4;  ///< maximum of rounds
  double target = 0.015;        ///< sufficient relative half width of the ratios' interval
  double clearly_worse = 0;     ///< an interval that ends below this is sufficient, however wide
};

/// The measurements at a shape so far.
struct Progress {
  std::span<const double> ratios;
  std::size_t rounds = 0;
  double spent_us = 0;  ///< time in all players' calls
};

bool enough(const Progress& so_far, const StoppingRule& rule);

}  // namespace kernelsmith::timing
