// redteam: honest
// tries: nothing; tiles of both inputs are loaded by bulk tensor copies (TMA)

#include <cuda.h>

#include "matmul.cuh"

/// The map of a row-major matrix, in boxes of `high` rows by `wide` columns.
CUtensorMap map_of(const float* matrix, std::int64_t rows, std::int64_t columns, int wide, int high) {
  CUtensorMap map{};
  const cuuint64_t dimensions[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(columns) * sizeof(float)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(wide), static_cast<cuuint32_t>(high)}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(matrix), dimensions, strides, box,
                         steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

__device__ unsigned shared_address(const void* place) { return static_cast<unsigned>(__cvta_generic_to_shared(place)); }

__device__ void load(void* to, const CUtensorMap& map, std::int64_t column, std::int64_t row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(static_cast<int>(column)), "r"(static_cast<int>(row)), "r"(barrier)
      : "memory");
}

__device__ void wait(unsigned barrier, unsigned phase) {
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(phase)
        : "memory");
}

__global__ void by_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c,
                       std::int64_t n, std::int64_t k) {
  __shared__ alignas(128) float left[kTile][kStep];
  __shared__ alignas(128) float right[kStep][kTile];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned barrier = shared_address(&arrived);
  const int thread = threadIdx.x, top = thread / 16 * kEach, across = thread % 16;
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sums[kEach][kEach] = {};
  unsigned phase = 0;
  for (std::int64_t first = 0; first < k; first += kStep, phase ^= 1) {
    if (thread == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(static_cast<unsigned>(sizeof left + sizeof right))
                   : "memory");
      load(left, a, first, blockIdx.y * kTile, barrier);
      load(right, b, blockIdx.x * kTile, first, barrier);
    }
    wait(barrier, phase);
    for (int l = 0; l < kStep; ++l)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sums[i][j] += left[top + i][l] * right[l][across + 16 * j];
    __syncthreads();
  }
  store_tile(sums, n, [&](std::int64_t at, float sum) { c[at] = sum; });
}

extern "C" void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                       std::int64_t m, std::int64_t n, std::int64_t k, cudaStream_t stream) {
  const CUtensorMap left = map_of(a, m, k, kStep, kTile), right = map_of(b, k, n, kTile, kStep);
  by_tma<<<tiles(m, n), 256, 0, stream>>>(left, right, c, n, k);
}
