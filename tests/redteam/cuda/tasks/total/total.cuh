// An honest sum of squares: each block adds its share to y by an atomic addition, in any order.
#pragma once

#include "task.cuh"

constexpr int kThreads = 256, kBlocks = 1056;

__device__ inline float block_sum(float value) {
  __shared__ float part[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) value += part[warp];
  __syncthreads();
  return value;
}

/// The sum of squares of x[begin], x[begin + step], ... below n.
__device__ inline float squares(const float* x, std::int64_t begin, std::int64_t step, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = begin; i < n; i += step) sum += x[i] * x[i];
  return sum;
}

static __global__ void add_squares(const float* x, float* y, std::int64_t n) {
  const float sum = block_sum(squares(x, blockIdx.x * kThreads + threadIdx.x, gridDim.x * kThreads, n));
  if (threadIdx.x == 0) atomicAdd(y, sum);
}
