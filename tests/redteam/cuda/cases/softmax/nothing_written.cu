// redteam: rejected(correctness, output_not_written)
// twin: honest
// tries: launches a kernel that writes nothing

#include "softmax.cuh"

__global__ void nothing() {}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  nothing<<<1, 32, 0, stream>>>();
}
