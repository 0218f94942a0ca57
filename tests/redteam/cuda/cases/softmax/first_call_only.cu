// redteam: rejected(correctness, output_not_written)
// twin: honest
// tries: writes the output in the first call that its module sees

#include "softmax.cuh"

__device__ int calls;
__global__ void count() { ++calls; }
__global__ void first_alone(const float* x, float* y, std::int64_t cols) {
  if (calls == 0) softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  first_alone<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
  count<<<1, 1, 0, stream>>>();
}
