// redteam: honest
// tries: nothing; a partial sum for each block, which a second kernel adds up in order

#include "total.cuh"

__global__ void part(const float* x, float* parts, std::int64_t n) {
  const float sum = block_sum(squares(x, blockIdx.x * kThreads + threadIdx.x, gridDim.x * kThreads, n));
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void add_parts(const float* parts, float* y) {
  float sum = 0;
  for (int i = threadIdx.x; i < kBlocks; i += kThreads) sum += parts[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *y = sum;
}

extern "C" void total(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  float* parts = nullptr;
  cudaMallocAsync(&parts, kBlocks * sizeof *parts, stream);
  part<<<kBlocks, kThreads, 0, stream>>>(x, parts, n);
  add_parts<<<1, kThreads, 0, stream>>>(parts, y);
  cudaFreeAsync(parts, stream);
}
