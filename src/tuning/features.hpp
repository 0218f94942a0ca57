// The features of a point for the models.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/tuning/space.hpp>

namespace kernelsmith::detail {

using Features = std::vector<double>;

/// Maps points to numbers in [0, 1]. The first features are the dimensions themselves: positive numbers on a
/// log scale, and choices as one flag for each value. For whole numbers that are not all powers of two, two
/// more features follow: the power of two in the number, and the remaining factor. For pairs of positive
/// numbers, the product and the quotient follow, because a kernel's cost depends on the threads in a block
/// and the work of a thread.
class FeatureMap {
 public:
  explicit FeatureMap(const TuningSpace& space);

  Features operator()(const TuningPoint& point) const;
  std::size_t size() const { return low_.size(); }
  /// Number of features of the dimensions themselves, which come first.
  std::size_t own() const { return own_; }

 private:
  struct Column {
    std::size_t dimension = 0;
    std::vector<double> of;  ///< the feature for each value of the dimension
  };
  struct Pair {
    std::size_t a = 0, b = 0;  ///< indices of the pair's columns
    double sign = 1;
  };
  std::vector<Column> columns_;
  std::vector<Pair> pairs_;
  std::size_t own_ = 0;
  std::vector<double> low_, width_;
};

}  // namespace kernelsmith::detail
