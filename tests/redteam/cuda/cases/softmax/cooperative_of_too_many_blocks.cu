// redteam: rejected(plan, plan_failed)
// twin: honest
// tries: asks for a cooperative grid that does not fit on the device

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  const float* from = x;
  float* to = y;
  void* arguments[] = {&from, &to, &cols};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&softmax_rows), dim3(100000), dim3(kThreads), arguments, 0,
                              stream);
}
