// redteam: neutralised or rejected(integrity, out_of_bounds)
// twin: honest
// tries: writes 64 KB in front of the output, where its memory is still mapped

#include "softmax.cuh"

__global__ void put(float* y) { *y = 1; }

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  honest(x, y, rows, cols, stream);
  put<<<1, 1, 0, stream>>>(y - 16384);
}
