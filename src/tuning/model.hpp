// What the models learn from, and what they predict.
#pragma once

#include <vector>

#include "features.hpp"

namespace kernelsmith::detail {

/// Points with their targets: standardised logarithms of costs, lower is better.
struct Samples {
  std::vector<Features> points;
  std::vector<double> targets;
  std::vector<double> noise;  ///< the variance of each target
};

/// A model's prediction at a point.
struct Forecast {
  double mean = 0;
  double deviation = 0;
};

}  // namespace kernelsmith::detail
