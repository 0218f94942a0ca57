// The product of two matrices in tiles of 16 by 16, a thread for each element.
#include "task.cuh"

namespace {

constexpr int kTile = 16;

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, std::int64_t m,
                        std::int64_t n, std::int64_t k) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const std::int64_t i = blockIdx.y * kTile + threadIdx.y, j = blockIdx.x * kTile + threadIdx.x;
  float total = 0;
  for (std::int64_t first = 0; first < k; first += kTile) {
    const std::int64_t in_a = first + threadIdx.x, in_b = first + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = i < m && in_a < k ? __bfloat162float(a[i * k + in_a]) : 0.0f;
    right[threadIdx.y][threadIdx.x] = in_b < k && j < n ? __bfloat162float(b[in_b * n + j]) : 0.0f;
    __syncthreads();
    for (int l = 0; l < kTile; ++l) total += left[threadIdx.y][l] * right[l][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = __float2bfloat16(total);
}

}  // namespace

extern "C" void matmul(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                       __nv_bfloat16* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k,
                       cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
  product<<<blocks, dim3(kTile, kTile), 0, stream>>>(a, b, c, m, n, k);
}
