// redteam: rejected(plan, plan_failed)
// twin: honest
// tries: asks for a terabyte of workspace

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  void* memory = nullptr;
  cudaMallocAsync(&memory, std::size_t{1} << 40, stream);
  honest(x, y, rows, cols, stream);
}
