// A forest of extremely randomised trees (Geurts, Ernst and Wehenkel, 2006).
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/rng.hpp>

#include "model.hpp"

namespace kernelsmith::detail {

class Forest {
 public:
  /// `own` is the number of features of the dimensions themselves. Half of the splits use them, because there
  /// are many pairs.
  Forest(const Samples& samples, std::size_t own, Rng& rng);

  Forecast at(const Features& point) const;

 private:
  struct Node {
    std::size_t feature = 0;
    double threshold = 0;
    std::size_t left = 0, right = 0;  ///< indices of nodes; 0 for a leaf
    double mean = 0, variance = 0;
  };
  using Tree = std::vector<Node>;
  struct Split {
    std::size_t feature = 0;
    double threshold = 0;
    double gain = -1;
  };

  std::size_t grow(Tree& tree, std::vector<std::size_t>& rows, std::size_t begin, std::size_t end);
  Split draw_split(const std::vector<std::size_t>& rows, std::size_t begin, std::size_t end);

  const Samples& samples_;
  const std::size_t own_;
  Rng& rng_;
  std::vector<Tree> trees_;
};

}  // namespace kernelsmith::detail
