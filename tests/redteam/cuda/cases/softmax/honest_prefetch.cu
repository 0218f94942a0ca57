// redteam: honest
// tries: fetches a row into the L2 before it reads it, which is faster than reading it at once

#include "softmax.cuh"

__global__ void fetched_rows(const float* x, float* y, std::int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  for (std::int64_t j = threadIdx.x * 32; j < cols; j += kThreads * 32)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + j));
  softmax_row(row, y + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  fetched_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
