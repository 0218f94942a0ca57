// How tensors and uploads lie in device memory.
#pragma once

#include <cstddef>

namespace kernelsmith::cuda {

/// cudaMalloc's alignment, in bytes. Copies and comparisons run at full speed between such addresses.
inline constexpr std::size_t kAlignment = 256;

/// `bytes`, rounded up to it.
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace kernelsmith::cuda
