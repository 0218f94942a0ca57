// Softmax along each row, a block for each row and three passes over it. The maximum drops NaN, as fmaxf does; the
// sum does not.
#include <cmath>

#include "task.cuh"

namespace {

constexpr int kThreads = 256;

__device__ float reduce(float value, float (*combine)(float, float), float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float sum(float a, float b) { return a + b; }

__global__ void softmax_row(const float* x, float* y, std::int64_t cols) {
  __shared__ float shared[kThreads];
  const float* const row = x + blockIdx.x * cols;
  float most = -INFINITY;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) most = fmaxf(most, row[j]);
  most = reduce(most, larger, shared);
  float total = 0;
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += expf(row[j] - most);
  total = reduce(total, sum, shared);
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads)
    y[blockIdx.x * cols + j] = expf(row[j] - most) / total;
}

}  // namespace

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  softmax_row<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
}
