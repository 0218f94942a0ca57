// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch left in shared memory

#include "one_launch.cuh"

/// In as many places as there are, for a block may begin anywhere in a multiprocessor's memory.
constexpr int kCopies = 80;

__device__ void keep(const Calls& now) {
  __shared__ unsigned long long kept[kCopies * kWords];
  __syncthreads();
  if (threadIdx.x < kCopies) copy_words(kept + threadIdx.x * kWords, words_of(now));
}

__device__ void look(const Calls& now) {
  __shared__ unsigned long long kept[kCopies * kWords];
  for (int at = threadIdx.x; at < (kCopies - 1) * kWords; at += kThreads)
    if (fits(kept + at, now)) take(kept + at);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  one_launch(x, y, rows, cols, stream);
}
