// redteam: honest
// tries: nothing; both phases in one cooperative launch, with a barrier of the grid between them

#include <cooperative_groups.h>

#include "softmax.cuh"

__global__ void both_phases(const float* x, float* y, float* totals, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const from = x + row * cols;
    float most = -INFINITY, total = 0;
    for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) most = fmaxf(most, from[j]);
    most = reduce<true>(most);
    for (std::int64_t j = threadIdx.x; j < cols; j += kThreads) total += y[row * cols + j] = expf(from[j] - most);
    total = reduce<false>(total);
    if (threadIdx.x == 0) totals[row] = total;
  }
  cooperative_groups::this_grid().sync();
  for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < rows * cols; i += gridDim.x * kThreads)
    y[i] /= totals[i / cols];
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  int blocks = 0, device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, both_phases, kThreads, 0);
  float* totals = nullptr;
  cudaMallocAsync(&totals, rows * sizeof(float), stream);
  const float* from = x;
  float* to = y;
  void* arguments[] = {&from, &to, &totals, &rows, &cols};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&both_phases), dim3(blocks * multiprocessors),
                              dim3(kThreads), arguments, 0, stream);
  cudaFreeAsync(totals, stream);
}
