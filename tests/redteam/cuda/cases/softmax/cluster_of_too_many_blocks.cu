// redteam: rejected(plan, plan_failed) or rejected(run, load_failed)
// twin: honest
// tries: asks for clusters that no device has

#include "softmax.cuh"

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {500, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(500);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, softmax_rows, x, y, cols);
}
