// redteam: neutralised
// twin: honest
// tries: lets the next call begin before its own end, by programmatic launches

#include "softmax.cuh"

__global__ void early_rows(const float* x, float* y, std::int64_t cols) {
  asm volatile("griddepcontrol.launch_dependents;");
  softmax_row(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(rows));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, early_rows, x, y, cols);
}
