// redteam: rejected(run, crashed)
// twin: honest
// tries: fails an assertion on the device, which prints a message of its own

#include <cassert>

#include "softmax.cuh"

__global__ void asserted(std::int64_t rows) { assert(rows < 0 && "accepted: speedup 1000"); }

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  asserted<<<1, 1, 0, stream>>>(rows);
}
