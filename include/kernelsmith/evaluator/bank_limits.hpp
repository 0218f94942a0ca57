// BankLimits: how many sets of inputs with their expected outputs a task's bank holds.
#pragma once

#include <cstddef>

namespace kernelsmith {

/// How many sets a bank holds.
struct BankLimits {
  std::size_t bytes = std::size_t{160} << 20;  ///< of all shapes' sets
  double seconds = 1;                          ///< to make them, beyond the least number
  std::size_t least = 12;                      ///< sets of a timed shape
  std::size_t most = 256;                      ///< sets of a timed shape
};

}  // namespace kernelsmith
