// redteam: rejected(plan, crashed) or rejected(plan, out_of_memory) or rejected(plan, timed_out)
// twin: honest
// tries: allocates and touches memory without end

#include <cstdlib>
#include <cstring>

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  while (true) std::memset(std::malloc(64 << 20), 1, 64 << 20);
}
