// redteam: honest
// tries: nothing; blocks in clusters, of which one reads what its neighbour computed in shared memory

#include <cooperative_groups.h>

#include "matmul.cuh"

/// Two blocks share a tile of the result: each takes half of the terms.
__global__ void __cluster_dims__(2, 1, 1)
    in_clusters(const float* a, const float* b, float* c, std::int64_t n, std::int64_t k) {
  __shared__ float left[kStep][kTile], right[kStep][kTile], half[kTile * kTile];
  auto cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank();
  const std::int64_t row = blockIdx.y * kTile, column = blockIdx.x / 2 * kTile, middle = k / 2 / kStep * kStep;
  const int thread = threadIdx.x, top = thread / 16 * kEach, across = thread % 16;
  float sums[kEach][kEach] = {};
  for (std::int64_t first = rank == 0 ? 0 : middle; first < (rank == 0 ? middle : k); first += kStep) {
    for (int i = thread; i < kStep * kTile; i += 256) {
      left[i % kStep][i / kStep] = a[(row + i / kStep) * k + first + i % kStep];
      right[i / kTile][i % kTile] = b[(first + i / kTile) * n + column + i % kTile];
    }
    __syncthreads();
    for (int l = 0; l < kStep; ++l)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sums[i][j] += left[l][top + i] * right[l][across + 16 * j];
    __syncthreads();
  }
  const auto at = [&](int i, int j) { return (top + i) * kTile + across + 16 * j; };
  if (rank == 1)
    for (int i = 0; i < kEach; ++i)
      for (int j = 0; j < kEach; ++j) half[at(i, j)] = sums[i][j];
  cluster.sync();
  const float* const other = cluster.map_shared_rank(half, 1);
  if (rank == 0)
    for (int i = 0; i < kEach; ++i)
      for (int j = 0; j < kEach; ++j)
        c[(row + top + i) * n + column + across + 16 * j] = sums[i][j] + other[at(i, j)];
  cluster.sync();
}

extern "C" void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                       std::int64_t m, std::int64_t n, std::int64_t k, cudaStream_t stream) {
  in_clusters<<<dim3(static_cast<unsigned>(2 * n / kTile), static_cast<unsigned>(m / kTile)), 256, 0, stream>>>(a, b, c, n, k);
}
