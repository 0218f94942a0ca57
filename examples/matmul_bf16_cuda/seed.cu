// Tensor cores through wmma: a block computes a tile of c, its warps share it, and tiles of a and b are staged in
// shared memory. The knobs choose the tiles, and whether the next tiles are loaded while these are multiplied.
#include <mma.h>

#include "task.cuh"

// EVOLVE-BLOCK-START
namespace {

namespace wmma = nvcuda::wmma;

enum Staging { one_stage, two_stages };

constexpr int kTileM = 64;             // @tune 64 128
constexpr int kTileN = 64;             // @tune 64 128
constexpr int kTileK = 32;             // @tune 16 32 64
constexpr int kWarpsM = 2;             // @tune 1 2 4
constexpr int kWarpsN = 2;             // @tune 1 2 4
constexpr Staging kStaging = one_stage;  // @tune one_stage two_stages

constexpr int kThreads = 32 * kWarpsM * kWarpsN;
constexpr int kStages = kStaging == two_stages ? 2 : 1;
constexpr int kFragmentsM = kTileM / kWarpsM / 16, kFragmentsN = kTileN / kWarpsN / 16;
/// Rows are padded so that a column of fragments meets all banks.
constexpr int kRowA = kTileK + 8, kRowB = kTileN + 8, kRowC = kTileN + 4;
static_assert(kFragmentsM > 0 && kFragmentsN > 0, "a warp needs a fragment in each direction");

struct Tiles {
  __nv_bfloat16 a[kTileM * kRowA];
  __nv_bfloat16 b[kTileK * kRowB];
};

constexpr int kBytesOfTiles = static_cast<int>(sizeof(Tiles)) * kStages;
constexpr int kBytesOfResult = kTileM * kRowC * 4;
constexpr int kSharedBytes = kBytesOfTiles > kBytesOfResult ? kBytesOfTiles : kBytesOfResult;

/// Eight elements of a row, or zeros beyond the matrix.
__device__ uint4 load_eight(const __nv_bfloat16* matrix, std::int64_t row, std::int64_t col, std::int64_t rows,
                            std::int64_t cols) {
  if (row < rows && col + 8 <= cols && cols % 8 == 0) return *reinterpret_cast<const uint4*>(matrix + row * cols + col);
  __align__(16) __nv_bfloat16 eight[8];
  for (int i = 0; i < 8; ++i)
    eight[i] = row < rows && col + i < cols ? matrix[row * cols + col + i] : __float2bfloat16(0.0f);
  return *reinterpret_cast<const uint4*>(eight);
}

__device__ void load_tiles(Tiles& tiles, const __nv_bfloat16* a, const __nv_bfloat16* b, std::int64_t m,
                           std::int64_t n, std::int64_t k, std::int64_t first_k) {
  const std::int64_t i0 = static_cast<std::int64_t>(blockIdx.y) * kTileM;
  const std::int64_t j0 = static_cast<std::int64_t>(blockIdx.x) * kTileN;
  for (int e = threadIdx.x * 8; e < kTileM * kTileK; e += kThreads * 8)
    *reinterpret_cast<uint4*>(&tiles.a[e / kTileK * kRowA + e % kTileK]) =
        load_eight(a, i0 + e / kTileK, first_k + e % kTileK, m, k);
  for (int e = threadIdx.x * 8; e < kTileK * kTileN; e += kThreads * 8)
    *reinterpret_cast<uint4*>(&tiles.b[e / kTileN * kRowB + e % kTileN]) =
        load_eight(b, first_k + e / kTileN, j0 + e % kTileN, k, n);
}

using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__device__ void multiply(const Tiles& tiles, Sums (&sums)[kFragmentsM][kFragmentsN], int warp_i, int warp_j) {
  for (int l = 0; l < kTileK; l += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[kFragmentsM];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right[kFragmentsN];
    for (int i = 0; i < kFragmentsM; ++i)
      wmma::load_matrix_sync(left[i], &tiles.a[(warp_i * kFragmentsM + i) * 16 * kRowA + l], kRowA);
    for (int j = 0; j < kFragmentsN; ++j)
      wmma::load_matrix_sync(right[j], &tiles.b[l * kRowB + (warp_j * kFragmentsN + j) * 16], kRowB);
    for (int i = 0; i < kFragmentsM; ++i)
      for (int j = 0; j < kFragmentsN; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
  }
}

__global__ void __launch_bounds__(kThreads)
    product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, std::int64_t m, std::int64_t n,
            std::int64_t k) {
  extern __shared__ __align__(128) unsigned char memory[];
  Tiles* const tiles = reinterpret_cast<Tiles*>(memory);
  const int warp_i = threadIdx.x / 32 / kWarpsN, warp_j = threadIdx.x / 32 % kWarpsN;
  Sums sums[kFragmentsM][kFragmentsN];
  for (auto& row : sums)
    for (Sums& sum : row) wmma::fill_fragment(sum, 0.0f);
  if (kStaging == two_stages) load_tiles(tiles[0], a, b, m, n, k, 0);
  for (std::int64_t first = 0, step = 0; first < k; first += kTileK, ++step) {
    if (kStaging == one_stage) load_tiles(tiles[0], a, b, m, n, k, first);
    __syncthreads();
    if (kStaging == two_stages && first + kTileK < k) load_tiles(tiles[(step + 1) % kStages], a, b, m, n, k, first + kTileK);
    multiply(tiles[step % kStages], sums, warp_i, warp_j);
    if (kStaging == one_stage) __syncthreads();
  }
  __syncthreads();
  float* const result = reinterpret_cast<float*>(memory);
  for (int i = 0; i < kFragmentsM; ++i)
    for (int j = 0; j < kFragmentsN; ++j)
      wmma::store_matrix_sync(&result[(warp_i * kFragmentsM + i) * 16 * kRowC + (warp_j * kFragmentsN + j) * 16],
                              sums[i][j], kRowC, wmma::mem_row_major);
  __syncthreads();
  for (int e = threadIdx.x; e < kTileM * kTileN; e += kThreads) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * kTileM + e / kTileN;
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * kTileN + e % kTileN;
    if (i < m && j < n) c[i * n + j] = __float2bfloat16(result[e / kTileN * kRowC + e % kTileN]);
  }
}

}  // namespace

extern "C" void matmul(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                       __nv_bfloat16* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k,
                       cudaStream_t stream) {
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  const dim3 blocks(static_cast<unsigned>((n + kTileN - 1) / kTileN), static_cast<unsigned>((m + kTileM - 1) / kTileM));
  product<<<blocks, kThreads, kSharedBytes, stream>>>(a, b, c, m, n, k);
}
// EVOLVE-BLOCK-END
