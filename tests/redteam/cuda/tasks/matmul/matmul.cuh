// An honest product of two matrices whose sizes are multiples of 64: tiles of 64 by 64, a thread for 4 by 4.
#pragma once

#include "task.cuh"

constexpr int kTile = 64, kStep = 16, kEach = 4;

struct Whole {
  __device__ float operator()(float value) const { return value; }
};

/// Adds a[., from..to) b[from..to, .) of the block's tile; `cut` is applied to what is loaded.
template <class Cut>
__device__ void add_products(const float* a, const float* b, std::int64_t n, std::int64_t k, std::int64_t from,
                             std::int64_t to, float (&sums)[kEach][kEach], Cut cut) {
  __shared__ float left[kStep][kTile], right[kStep][kTile];
  const std::int64_t row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  const int thread = threadIdx.x, top = thread / 16 * kEach, across = thread % 16;
  for (std::int64_t first = from; first < to; first += kStep) {
    for (int i = thread; i < kStep * kTile; i += 256) {
      left[i % kStep][i / kStep] = cut(a[(row + i / kStep) * k + first + i % kStep]);
      right[i / kTile][i % kTile] = cut(b[(first + i / kTile) * n + column + i % kTile]);
    }
    __syncthreads();
    for (int l = 0; l < kStep; ++l)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sums[i][j] += left[l][top + i] * right[l][across + 16 * j];
    __syncthreads();
  }
}

template <class Store>
__device__ void store_tile(const float (&sums)[kEach][kEach], std::int64_t n, Store store) {
  const int thread = threadIdx.x, top = thread / 16 * kEach, across = thread % 16;
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j)
      store((blockIdx.y * kTile + top + i) * n + blockIdx.x * kTile + across + 16 * j, sums[i][j]);
}

template <class Cut>
__global__ void product(const float* a, const float* b, float* c, std::int64_t n, std::int64_t k,
                        std::int64_t terms, Cut cut) {
  float sums[kEach][kEach] = {};
  add_products(a, b, n, k, 0, terms, sums, cut);
  store_tile(sums, n, [&](std::int64_t at, float sum) { c[at] = sum; });
}

inline dim3 tiles(std::int64_t m, std::int64_t n) {
  return {static_cast<unsigned>(n / kTile), static_cast<unsigned>(m / kTile)};
}

/// A multiply-add for each of `terms` terms of a sum.
template <class Cut = Whole>
void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k,
              std::int64_t terms, cudaStream_t stream, Cut cut = {}) {
  product<<<tiles(m, n), 256, 0, stream>>>(a, b, c, n, k, terms, cut);
}
