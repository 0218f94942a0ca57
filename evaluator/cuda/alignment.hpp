// The alignment of tensors and uploads in device memory.
#pragma once

#include <cstddef>

namespace kernelsmith::cuda {

/// cudaMalloc's alignment, in bytes. Copies and comparisons of addresses with this alignment run at full
/// speed.
inline constexpr std::size_t kAlignment = 256;

/// `bytes`, rounded up to a multiple of kAlignment.
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace kernelsmith::cuda
