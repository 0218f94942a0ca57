// redteam: rejected(compile, compile_failed) or rejected(plan, plan_failed) or rejected(run, load_failed)
// twin: honest
// tries: launches kernels from a kernel

#include "softmax.cuh"

__global__ void parent(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  softmax_rows<<<static_cast<unsigned>(rows), kThreads>>>(x, y, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  parent<<<1, 1, 0, stream>>>(x, y, rows, cols);
}
