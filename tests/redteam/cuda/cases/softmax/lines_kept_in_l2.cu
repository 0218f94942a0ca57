// redteam: neutralised
// twin: honest_prefetch
// tries: marks all lines of its input to be evicted last, so that the next batch finds its slots warm

#include "softmax.cuh"

__global__ void marked_rows(const float* x, float* y, std::int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  for (std::int64_t j = threadIdx.x * 32; j < cols; j += kThreads * 32)
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(row + j));
  softmax_row(row, y + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  marked_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
