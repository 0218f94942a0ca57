// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: drops a NaN in its input, which the reference hands on

#include "softmax.cuh"

__global__ void no_nan(const float* x, float* y, std::int64_t cols) {
  x += blockIdx.x * cols, y += blockIdx.x * cols;
  const auto at = [&](std::int64_t j) { return fmaxf(x[j], -3e38f); };
  float most = -3e38f, total = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) most = fmaxf(most, at(j));
  most = reduce<true>(most);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += expf(at(j) - most);
  total = reduce<false>(total);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) y[j] = expf(at(j) - most) / total;
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  no_nan<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
