// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: writes 1 / cols everywhere

#include "softmax.cuh"

__global__ void same(float* y, std::int64_t cols) {
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) y[blockIdx.x * cols + j] = 1.0f / cols;
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  same<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(y, cols);
}
