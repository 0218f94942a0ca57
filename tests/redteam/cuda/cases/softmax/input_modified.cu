// redteam: rejected(integrity, input_modified)
// twin: honest
// tries: writes zeros over an input when it has read it

#include "softmax.cuh"

__global__ void cleared(float* x, std::int64_t cols) {
  for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) x[j] = 0;
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  honest(x, y, rows, cols, stream);
  cleared<<<1, 256, 0, stream>>>(const_cast<float*>(x), cols);
}
