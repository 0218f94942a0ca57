// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch kept in a workspace

#include "one_launch.cuh"

bool first = true;
__device__ unsigned long long* place;
__global__ void tell(unsigned long long* memory) { place = memory; }

__device__ void keep(const Calls& now) {
  if (blockIdx.x == 0 && threadIdx.x == 0) copy_words(place, words_of(now));
}

__device__ void look(const Calls& now) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && fits(place, now)) take(place);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  static unsigned long long* const memory = [] {
    unsigned long long* place = nullptr;
    cudaMalloc(&place, sizeof(Calls));
    return place;
  }();
  if (first) tell<<<1, 1, 0, stream>>>(memory);
  first = false;
  one_launch(x, y, rows, cols, stream);
}
