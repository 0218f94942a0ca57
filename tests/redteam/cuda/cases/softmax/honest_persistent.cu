// redteam: honest
// tries: nothing; as many blocks as fit at once, which fetch rows until none is left

#include "softmax.cuh"

__global__ void rows_in_turn(const float* x, float* y, std::int64_t rows, std::int64_t cols, unsigned* next) {
  __shared__ unsigned row;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) row = atomicAdd(next, 1U);
    __syncthreads();
    if (row >= rows) return;
    softmax_row(x + row * cols, y + row * cols, cols);
  }
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  int blocks = 0, device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rows_in_turn, kThreads, 0);
  unsigned* next = nullptr;
  cudaMallocAsync(&next, sizeof *next, stream);
  cudaMemsetAsync(next, 0, sizeof *next, stream);
  rows_in_turn<<<blocks * multiprocessors, kThreads, 0, stream>>>(x, y, rows, cols, next);
  cudaFreeAsync(next, stream);
}
