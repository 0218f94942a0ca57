// redteam: honest
// tries: nothing; the terms of each sum in two parts, added in a second kernel

#include "matmul.cuh"

__global__ void part(const float* a, const float* b, float* parts, std::int64_t m, std::int64_t n, std::int64_t k) {
  float sums[kEach][kEach] = {};
  const std::int64_t middle = k / 2 / kStep * kStep;
  add_products(a, b, n, k, blockIdx.z == 0 ? 0 : middle, blockIdx.z == 0 ? middle : k, sums, Whole());
  store_tile(sums, n, [&](std::int64_t at, float sum) { parts[blockIdx.z * m * n + at] = sum; });
}

__global__ void add_parts(const float* parts, float* c, std::int64_t count) {
  const std::int64_t i = blockIdx.x * 256 + threadIdx.x;
  c[i] = parts[i] + parts[count + i];
}

extern "C" void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                       std::int64_t m, std::int64_t n, std::int64_t k, cudaStream_t stream) {
  float* parts = nullptr;
  cudaMallocAsync(&parts, 2 * m * n * sizeof *parts, stream);
  const dim3 grid = tiles(m, n);
  part<<<dim3(grid.x, grid.y, 2), 256, 0, stream>>>(a, b, parts, m, n, k);
  add_parts<<<static_cast<unsigned>(m * n / 256), 256, 0, stream>>>(parts, c, m * n);
  cudaFreeAsync(parts, stream);
}
