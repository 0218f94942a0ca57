// An honest softmax along rows, a block of kThreads for each: what the tricks of this task do beside it.
#pragma once

#include <cmath>

#include "task.cuh"

constexpr int kThreads = 256;

template <bool kMost>
__device__ float reduce(float value) {
  __shared__ float part[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffU, value, step);
    value = kMost ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (int warp = 1; warp < kThreads / 32; ++warp)
    value = kMost ? fmaxf(value, part[warp]) : value + part[warp];
  __syncthreads();
  return value;
}

__device__ inline void softmax_row(const float* x, float* y, std::int64_t cols) {
  float most = -INFINITY, total = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) most = fmaxf(most, x[j]);
  most = reduce<true>(most);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += expf(x[j] - most);
  total = reduce<false>(total);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) y[j] = expf(x[j] - most) / total;
}

static __global__ void softmax_rows(const float* x, float* y, std::int64_t cols) {
  softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

inline void honest(const float* x, float* y, std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  softmax_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
