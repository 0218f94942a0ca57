// redteam: rejected(plan, plan_failed)
// twin: honest
// tries: launches a kernel while it is loaded, before any call

#include "softmax.cuh"

__global__ void early() {}
const int launched = [] {
  early<<<1, 1>>>();
  return 0;
}();

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  honest(x, y, rows, cols, stream);
}
