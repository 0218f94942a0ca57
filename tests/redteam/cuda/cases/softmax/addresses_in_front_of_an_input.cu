// redteam: neutralised or rejected(integrity, out_of_bounds) or rejected(run, crashed)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch kept in the margin in front of its first input, which is no tensor's

#include "one_launch.cuh"

__device__ volatile unsigned long long* place(const Calls& now) {
  return reinterpret_cast<volatile unsigned long long*>(const_cast<float*>(now.x[0])) - 4096;
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
