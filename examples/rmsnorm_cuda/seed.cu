// A block for each row. The knobs choose the threads, the width of a load, and whether a row is kept in registers
// between the two passes.
#include "task.cuh"

// EVOLVE-BLOCK-START
namespace {

enum Keep { nothing, in_registers };

constexpr int kThreads = 256;    // @tune 64 128 256 512 1024
constexpr int kWidth = 1;        // @tune 1 2 8
constexpr Keep kKeep = nothing;  // @tune nothing in_registers

/// What a load brings: kWidth halves.
struct alignas(2 * kWidth) Halves {
  __half at[kWidth];
};

/// Loads of a thread that are kept, at most; longer rows are read twice.
constexpr int kMostKept = 32 / kWidth;

__device__ float sum_of_block(float value) {
  __shared__ float shared[32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value += shared[warp];
  return value;
}

__device__ float squares_of(const Halves& halves) {
  float squares = 0;
  for (int i = 0; i < kWidth; ++i) squares += __half2float(halves.at[i]) * __half2float(halves.at[i]);
  return squares;
}

__device__ Halves scaled(const Halves& x, const Halves& w, float scale) {
  Halves y;
  for (int i = 0; i < kWidth; ++i) y.at[i] = __float2half(__half2float(x.at[i]) * scale * __half2float(w.at[i]));
  return y;
}

/// Rows of whole loads.
__global__ void rmsnorm_row(const Halves* x, const Halves* w, Halves* y, std::int64_t loads, std::int64_t cols) {
  const Halves* const row = x + blockIdx.x * loads;
  Halves* const to = y + blockIdx.x * loads;
  const bool keep = kKeep == in_registers && loads <= kMostKept * kThreads;
  Halves kept[kMostKept];
  float squares = 0;
  if (keep) {
#pragma unroll
    for (int i = 0; i < kMostKept; ++i) {
      const std::int64_t j = threadIdx.x + static_cast<std::int64_t>(i) * kThreads;
      if (j < loads) squares += squares_of(kept[i] = row[j]);
    }
  } else {
    for (std::int64_t j = threadIdx.x; j < loads; j += kThreads) squares += squares_of(row[j]);
  }
  const float scale = rsqrtf(sum_of_block(squares) / static_cast<float>(cols) + 1e-5f);
  if (keep) {
#pragma unroll
    for (int i = 0; i < kMostKept; ++i) {
      const std::int64_t j = threadIdx.x + static_cast<std::int64_t>(i) * kThreads;
      if (j < loads) to[j] = scaled(kept[i], w[j], scale);
    }
  } else {
    for (std::int64_t j = threadIdx.x; j < loads; j += kThreads) to[j] = scaled(row[j], w[j], scale);
  }
}

/// Any rows.
__global__ void rmsnorm_odd_row(const __half* x, const __half* w, __half* y, std::int64_t cols) {
  const __half* const row = x + blockIdx.x * cols;
  float squares = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) squares += __half2float(row[j]) * __half2float(row[j]);
  const float scale = rsqrtf(sum_of_block(squares) / static_cast<float>(cols) + 1e-5f);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads)
    y[blockIdx.x * cols + j] = __float2half(__half2float(row[j]) * scale * __half2float(w[j]));
}

}  // namespace

extern "C" void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y,
                        std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(rows);
  if (cols % kWidth == 0)
    rmsnorm_row<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const Halves*>(x), reinterpret_cast<const Halves*>(w),
                                                 reinterpret_cast<Halves*>(y), cols / kWidth, cols);
  else
    rmsnorm_odd_row<<<blocks, kThreads, 0, stream>>>(x, w, y, cols);
}
// EVOLVE-BLOCK-END
