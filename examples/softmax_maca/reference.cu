// An operator in CUDA C++, whose warps have 32 lanes: softmax along each row, a block for each row. It is what is correct,
// 1.0x, and what is translated. Only the second #include makes it a program for other lanes and names.
#include <cmath>

#include "task.cuh"
#include "cuda_names.cuh"

namespace {

constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffU;

template <class Combine>
__device__ float reduce(float value, Combine combine) {
  __shared__ float shared[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(kAllLanes, value, step));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value = combine(value, shared[warp]);
  __syncthreads();
  return value;
}

__global__ void softmax_row(const float* x, float* y, std::int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  float most = -INFINITY;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) most = fmaxf(most, row[j]);
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float total = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += expf(row[j] - most);
  total = reduce(total, [](float a, float b) { return a + b; });
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads)
    y[blockIdx.x * cols + j] = expf(row[j] - most) / total;
}

}  // namespace

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  softmax_row<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
