// A Gaussian process with a Matern 5/2 kernel and a length for each feature.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/rng.hpp>

#include "model.hpp"

namespace kernelsmith::detail {

/// The logarithms of the lengths after a hill climb on the likelihood of `samples`. `own` is the number of
/// features of the dimensions themselves. The other features begin with longer lengths, so that they matter
/// only if the data supports it.
std::vector<double> fit_lengths(const Samples& samples, std::size_t own, Rng& rng);

class GaussianProcess {
 public:
  GaussianProcess(const Samples& samples, const std::vector<double>& log_lengths);

  Forecast at(const Features& point) const;
  /// The lowest mean at a sample, which is the cost of the best sample without noise.
  double lowest() const { return lowest_; }

 private:
  double kernel(const Features& a, const Features& b) const;

  const Samples& samples_;
  std::vector<double> inverse_;  ///< 1 / length for each length
  std::vector<double> root_;     ///< the Cholesky root of the samples' covariance, row by row
  std::vector<double> weights_;
  double scale_ = 1;
  double lowest_ = 0;
};

}  // namespace kernelsmith::detail
