// The secret inputs: what the tensors of a set are drawn from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "bytes.hpp"

namespace kernelsmith {

/// A stream of random words with a 128-bit key from the kernel (Philox; see core/rng.hpp): candidates see the
/// inputs and must not be able to tell the next ones.
class SecretStream {
 public:
  SecretStream();
  std::uint64_t word();
  double uniform();                      ///< in [0, 1)
  std::uint64_t below(std::uint64_t n);  ///< in [0, n); n > 0
  /// Two independent standard normals.
  std::array<float, 2> normals();

 private:
  Rng rng_;
};

/// The values of one tensor, in its dtype. `normal` is a mixture: N(0, 1), with rows scaled, rows shifted, a
/// peak in each row, or a few outliers, so that no shortcut holds for all of it.
Bytes draw_tensor(const TensorSpec& spec, const TensorExtent& extent, SecretStream& random);

/// Puts the special values that the tensor declares at random places in some of the rows of `values`, each
/// kind at least once where there are four rows to each of them.
Bytes with_specials(const TensorSpec& spec, const TensorExtent& extent, Bytes values, SecretStream& random);

}  // namespace kernelsmith
