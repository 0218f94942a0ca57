// BankLimits: the size of a task's bank of inputs with expected outputs.
#pragma once

#include <cstddef>

namespace kernelsmith {

/// How many sets a bank holds.
struct BankLimits {
  std::size_t bytes = std::size_t{160} << 20;  ///< all shapes together
  double seconds = 1;                          ///< processor and device time to make sets beyond the minimum, by thread
  std::size_t least = 12;                      ///< minimum of sets for a timed shape
  std::size_t most = 256;                      ///< maximum of sets for a timed shape
};

}  // namespace kernelsmith
