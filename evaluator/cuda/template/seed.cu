// The search starts here. The text between the markers may change; a constant with @tune is a knob, whose
// listed values are tried if they keep the rules after @require.
#include "task.cuh"

// EVOLVE-BLOCK-START
namespace {

constexpr int kTile = 16;  // @tune 8 16 32 64
constexpr int kRows = 8;   // @tune 2 4 8 16
constexpr int kPad = 0;    // @tune 0 1
// @require kTile * kRows <= 1024
// @require kTile % kRows == 0

/// A block moves a tile through shared memory, so that both reads and writes are in rows.
__global__ void transpose_tile(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  __shared__ float tile[kTile][kTile + kPad];
  const std::int64_t i0 = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const std::int64_t j0 = static_cast<std::int64_t>(blockIdx.x) * kTile;
  for (int r = threadIdx.y; r < kTile; r += kRows)
    if (i0 + r < rows && j0 + threadIdx.x < cols) tile[r][threadIdx.x] = x[(i0 + r) * cols + j0 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < kTile; r += kRows)
    if (j0 + r < cols && i0 + threadIdx.x < rows) y[(j0 + r) * rows + i0 + threadIdx.x] = tile[threadIdx.x][r];
}

}  // namespace

extern "C" void transpose(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                          cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((cols + kTile - 1) / kTile), static_cast<unsigned>((rows + kTile - 1) / kTile));
  transpose_tile<<<blocks, dim3(kTile, kRows), 0, stream>>>(x, y, rows, cols);
}
// EVOLVE-BLOCK-END
