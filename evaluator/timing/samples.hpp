// TimingSamples: what was measured at one shape. A sample is the mean of batches of all players on the same
// sets.
#pragma once

#include <cstddef>
#include <vector>

namespace kernelsmith::timing {

/// By sample, the time of one call in microseconds.
struct TimingSamples {
  std::vector<double> candidate_us{};
  std::vector<double> yardstick_us{};
  std::vector<double> rival_us{};  ///< empty if there is no rival

  std::size_t size() const { return candidate_us.size(); }

  /// Yardstick over candidate: above 1 the candidate is faster.
  std::vector<double> ratios() const {
    std::vector<double> ratios(size());
    for (std::size_t i = 0; i < size(); ++i) ratios[i] = yardstick_us[i] / candidate_us[i];
    return ratios;
  }
};

/// All samples of one shape.
struct ShapeSamples {
  TimingSamples batches;  ///< the score is made of these
  TimingSamples lone;     ///< batches of one call, if the others hold several: they bound the score
};

}  // namespace kernelsmith::timing
