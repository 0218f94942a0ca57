// redteam: neutralised or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch left in local memory (a stack that nobody clears)

#include "one_launch.cuh"

/// Blocks of which every thread keeps all: enough for each place on the device to hold them.
constexpr unsigned kKeepers = 264;

__device__ __noinline__ void keep(const Calls& now) {
  volatile unsigned long long kept[kWords];
  if (blockIdx.x < kKeepers && now.count % 8 == 0) copy_words(kept, words_of(now));
  if (now.count < 0) known.count = static_cast<std::int64_t>(kept[now.rows]);  // so that they are not dropped as dead
}

__device__ __noinline__ void look(const Calls& now) {
  volatile unsigned long long kept[kWords];
  if (now.count < 0) kept[now.rows] = 0;
  if (fits(kept, now)) take(kept);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  one_launch(x, y, rows, cols, stream);
}
