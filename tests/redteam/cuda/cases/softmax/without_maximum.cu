// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: leaves out the maximum, which overflows for large values only

#include "softmax.cuh"

__global__ void no_maximum(const float* x, float* y, std::int64_t cols) {
  x += blockIdx.x * cols, y += blockIdx.x * cols;
  float total = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += expf(x[j]);
  total = reduce<false>(total);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) y[j] = expf(x[j]) / total;
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  no_maximum<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
