// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch left in the device's heap (malloc in a kernel)

#include "one_launch.cuh"

__device__ volatile unsigned long long* place(void* piece) {
  return static_cast<unsigned long long*>(piece) + 128;
}

__device__ void keep(const Calls& now) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  void* const piece = malloc(4096);
  if (piece != nullptr) copy_words(place(piece), words_of(now));
  free(piece);
}

__device__ void look(const Calls& now) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  void* const piece = malloc(4096);
  if (piece != nullptr && fits(place(piece), now)) take(place(piece));
  free(piece);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  one_launch(x, y, rows, cols, stream);
}
