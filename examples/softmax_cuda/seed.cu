// A block for each row. The knobs choose the threads, the width of a load, whether a row is kept on chip between the
// passes, and which exponential is used.
#include <cmath>

#include "task.cuh"

// EVOLVE-BLOCK-START
namespace {

enum Keep { nothing, in_shared_memory };
enum Exponential { exact, by_exp2 };

constexpr int kThreads = 256;                // @tune 64 128 256 512 1024
constexpr int kWidth = 1;                    // @tune 1 4
constexpr Keep kKeep = nothing;              // @tune nothing in_shared_memory
constexpr Exponential kExponential = exact;  // @tune exact by_exp2
constexpr int kUnroll = 1;                   // @tune 1 2 4 8

/// More than this a block cannot keep.
constexpr std::int64_t kMostKept = 48 * 1024 / sizeof(float);

__device__ float exponential(float z) {
  return kExponential == by_exp2 ? exp2f(z * 1.4426950408889634f) : expf(z);
}

template <class Combine>
__device__ float reduce(float value, Combine combine, float* shared) {
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffffU, value, step));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value = combine(value, shared[warp]);
  __syncthreads();
  return value;
}

/// Calls f(index) for the block's share of [0, cols), and g(index) for what groups of kWidth leave over.
template <class Wide, class Single>
__device__ void share_out(std::int64_t cols, Wide wide, Single single) {
  const std::int64_t groups = kWidth == 1 ? 0 : cols / kWidth;
#pragma unroll kUnroll
  for (std::int64_t i = threadIdx.x; i < groups; i += kThreads) wide(i);
#pragma unroll kUnroll
  for (std::int64_t j = groups * kWidth + threadIdx.x; j < cols; j += kThreads) single(j);
}

__global__ void softmax_row(const float* x, float* y, std::int64_t cols) {
  extern __shared__ float kept[];
  __shared__ float shared[32];
  const float* const row = x + blockIdx.x * cols;
  float* const to = y + blockIdx.x * cols;
  // Wide loads need rows that begin at a multiple of 16 bytes.
  const bool aligned = cols % 4 == 0;
  const std::int64_t wide_cols = aligned ? cols : 0;
  const bool keep = kKeep == in_shared_memory && cols <= kMostKept;
  const float* const again = keep ? kept : row;

  float most = -INFINITY;
  const auto see = [&](std::int64_t j) {
    const float value = row[j];
    if (keep) kept[j] = value;
    most = fmaxf(most, value);
  };
  share_out(
      wide_cols,
      [&](std::int64_t i) {
        const float4 v = reinterpret_cast<const float4*>(row)[i];
        if (keep) reinterpret_cast<float4*>(kept)[i] = v;
        most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
      },
      see);
  for (std::int64_t j = wide_cols + threadIdx.x; j < cols; j += kThreads) see(j);
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); }, shared);

  float total = 0;
  const auto add = [&](std::int64_t j) { total += exponential(again[j] - most); };
  share_out(
      wide_cols,
      [&](std::int64_t i) {
        const float4 v = reinterpret_cast<const float4*>(again)[i];
        total += exponential(v.x - most) + exponential(v.y - most) + exponential(v.z - most) + exponential(v.w - most);
      },
      add);
  for (std::int64_t j = wide_cols + threadIdx.x; j < cols; j += kThreads) add(j);
  total = reduce(total, [](float a, float b) { return a + b; }, shared);

  const float scale = 1 / total;
  const auto write = [&](std::int64_t j) { to[j] = exponential(again[j] - most) * scale; };
  share_out(
      wide_cols,
      [&](std::int64_t i) {
        const float4 v = reinterpret_cast<const float4*>(again)[i];
        reinterpret_cast<float4*>(to)[i] = {exponential(v.x - most) * scale, exponential(v.y - most) * scale,
                                            exponential(v.z - most) * scale, exponential(v.w - most) * scale};
      },
      write);
  for (std::int64_t j = wide_cols + threadIdx.x; j < cols; j += kThreads) write(j);
}

}  // namespace

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  const bool keep = kKeep == in_shared_memory && cols <= kMostKept;
  softmax_row<<<static_cast<unsigned>(rows), kThreads, keep ? cols * sizeof(float) : 0, stream>>>(x, y, cols);
}
// EVOLVE-BLOCK-END
