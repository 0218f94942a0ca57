// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch kept in a __device__ variable

#include "one_launch.cuh"

__device__ unsigned long long kept[kWords];

__device__ volatile unsigned long long* place(const Calls& now) {
  return kept;
}

__device__ void keep(const Calls& now) {
  if (blockIdx.x == 0 && threadIdx.x == 0) copy_words(place(now), words_of(now));
}

__device__ void look(const Calls& now) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && fits(place(now), now)) take(place(now));
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  one_launch(x, y, rows, cols, stream);
}
