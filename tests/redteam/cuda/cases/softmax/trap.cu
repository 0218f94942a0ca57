// redteam: rejected(run, crashed)
// twin: honest
// tries: traps

#include "softmax.cuh"

__global__ void trapped() { asm volatile("trap;"); }

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  trapped<<<1, 1, 0, stream>>>();
}
