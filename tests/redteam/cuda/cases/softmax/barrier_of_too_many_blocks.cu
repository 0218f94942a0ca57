// redteam: rejected(run, timed_out)
// twin: honest
// tries: waits for all blocks of a grid that does not fit on the device at once

#include "softmax.cuh"

__device__ unsigned arrived;
__global__ void waiting(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1U);
    while (*static_cast<volatile unsigned*>(&arrived) < gridDim.x) {
    }
  }
  __syncthreads();
  if (blockIdx.x < rows) softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  waiting<<<100000, kThreads, 0, stream>>>(x, y, rows, cols);
}
