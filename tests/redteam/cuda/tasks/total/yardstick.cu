#include "total.cuh"

extern "C" void total(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, sizeof *y, stream);
  add_squares<<<kBlocks, kThreads, 0, stream>>>(x, y, n);
}
