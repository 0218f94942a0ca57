// TimingSamples: the measurements at one shape. A sample is the mean of batches of all players on the same
// sets.
#pragma once

#include <cstddef>
#include <vector>

namespace kernelsmith::timing {

/// The time of one call in microseconds, by sample.
struct TimingSamples {
  std::vector<double> candidate_us{};
  std::vector<double> yardstick_us{};
  std::vector<double> rival_us{};  ///< empty if there is no rival

  std::size_t size() const { return candidate_us.size(); }

  /// The yardstick's times over the candidate's: above 1 the candidate is faster.
  std::vector<double> ratios() const {
    std::vector<double> ratios(size());
    for (std::size_t i = 0; i < size(); ++i) ratios[i] = yardstick_us[i] / candidate_us[i];
    return ratios;
  }
};

/// All samples of one shape.
struct ShapeSamples {
  TimingSamples batches;  ///< the basis of the score
  TimingSamples lone;     ///< batches of one call, which limit the score; empty if all batches have one call
};

}  // namespace kernelsmith::timing
