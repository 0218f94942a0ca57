// redteam: neutralised
// twin: honest
// tries: waits for a round number of the device's clock, so that all times look alike

#include "softmax.cuh"

__global__ void wait_a_while() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now / 4096 == start / 4096);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  honest(x, y, rows, cols, stream);
  wait_a_while<<<1, 1, 0, stream>>>();
}
