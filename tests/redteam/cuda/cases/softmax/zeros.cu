// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: writes zeros, which many outputs nearly are

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * cols * sizeof *y, stream);
}
