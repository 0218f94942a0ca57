// BankLimits: the size of a task's bank of inputs with expected outputs.
#pragma once

#include <cstddef>

namespace kernelsmith {

/// How many sets a bank holds.
struct BankLimits {
  std::size_t bytes = std::size_t{160} << 20;  ///< for all shapes together
  double seconds = 1;      ///< processor and device time of each thread for making sets beyond the minimum
  std::size_t least = 12;  ///< smallest number of sets for a timed shape
  std::size_t most = 256;  ///< largest number of sets for a timed shape
};

}  // namespace kernelsmith
