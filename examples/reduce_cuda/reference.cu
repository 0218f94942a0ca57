// The sum of a vector: a block for each chunk, and a last block for the chunks' sums.
#include "task.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;

__global__ void sum_of_chunk(const float* x, float* sums, std::int64_t n) {
  __shared__ float shared[kThreads];
  float total = 0;
  for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) total += x[i];
  shared[threadIdx.x] = total;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

}  // namespace

extern "C" void reduce(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  float* sums = nullptr;
  cudaMallocAsync(reinterpret_cast<void**>(&sums), kBlocks * sizeof(float), stream);
  sum_of_chunk<<<kBlocks, kThreads, 0, stream>>>(x, sums, n);
  sum_of_chunk<<<1, kThreads, 0, stream>>>(sums, y, kBlocks);
  cudaFreeAsync(sums, stream);
}
