// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses it finds beside its own parameters, where those of the later launches wait

#include "softmax.cuh"

constexpr int kMostCalls = 32;
constexpr unsigned long long kMagic = 0x6265736964652121ULL;

struct Mine {
  unsigned long long magic;
  const float* x;
  float* y;
  std::int64_t cols;
};

__device__ Mine found[kMostCalls];
__device__ int count;

/// Parameters lie in memory that has addresses. What is in the same 64 KB is mapped, if anything is.
__global__ void look_around(const __grid_constant__ Mine mine) {
  const void* self = &mine;
  asm volatile("" : "+l"(self));  // so that the compiler does not read the parameter itself
  constexpr std::uintptr_t kBlock = 64 << 10;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(self) / kBlock * kBlock;
  for (std::uintptr_t at = threadIdx.x * 8; at + sizeof(Mine) <= kBlock; at += blockDim.x * 8) {
    const auto* const other = reinterpret_cast<const volatile Mine*>(begin + at);
    if (other->magic != kMagic || other->cols != mine.cols || other->x == mine.x) continue;
    const int place = atomicAdd(&count, 1);
    if (place < kMostCalls) found[place] = {kMagic, other->x, other->y, other->cols};
  }
}

__device__ bool is_done(const Mine& mine) {
  for (int i = 0; i < min(count, kMostCalls); ++i)
    if (found[i].x == mine.x) return true;
  return false;
}

__global__ void rows_of_all(const __grid_constant__ Mine mine, bool first) {
  const std::int64_t at = blockIdx.x * mine.cols;
  if (blockIdx.y > 0) {
    const int other = blockIdx.y - 1;
    if (other < min(count, kMostCalls)) softmax_row(found[other].x + at, found[other].y + at, mine.cols);
    return;
  }
  if (first || !is_done(mine)) softmax_row(mine.x + at, mine.y + at, mine.cols);
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  static bool first = true;
  const Mine mine{kMagic, x, y, cols};
  if (first) look_around<<<1, 1024, 0, stream>>>(mine);
  const dim3 grid(static_cast<unsigned>(rows), first ? 1 + kMostCalls : 1);
  rows_of_all<<<grid, kThreads, 0, stream>>>(mine, first);
  first = false;
}
