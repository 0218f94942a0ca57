// Defines the correct results. It is also the baseline, 1.0x, unless task.yaml names another one.
#include "task.cuh"

namespace {

__global__ void transpose_element(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < rows && j < cols) y[j * rows + i] = x[i * cols + j];
}

}  // namespace

extern "C" void transpose(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                          cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 7) / 8));
  transpose_element<<<blocks, dim3(32, 8), 0, stream>>>(x, y, rows, cols);
}
