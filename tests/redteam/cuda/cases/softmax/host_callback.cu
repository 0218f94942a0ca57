// redteam: rejected(plan, plan_failed)
// twin: honest
// tries: has host code run between its kernels

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  cudaLaunchHostFunc(stream, [](void*) {}, nullptr);
  honest(x, y, rows, cols, stream);
}
