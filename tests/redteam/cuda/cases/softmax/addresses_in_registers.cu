// redteam: neutralised or rejected(run, crashed) or rejected(integrity, out_of_bounds)
// twin: honest
// tries: does all calls of a batch in its first launch, whose addresses an earlier batch left in registers, in each lane those of one call

#include "one_launch.cuh"

constexpr unsigned kMark = 0x5;

/// Where a tensor lies, in pieces of 2 MB from the first call's input on, with marks to know it by.
__device__ unsigned word_of(const Calls& now, const void* tensor, unsigned which) {
  const auto pieces = (reinterpret_cast<std::int64_t>(tensor) >> 21) - (reinterpret_cast<std::int64_t>(now.x[0]) >> 21);
  const unsigned word = static_cast<unsigned>(pieces & 0xfffff) << 4 | which;
  return word << 8 | (word * 0x9e3779b1U) >> 24 ^ kMark;
}

__device__ bool is_word(unsigned word, unsigned which) {
  const unsigned upper = word >> 8;
  return (word & 0xff) == (upper * 0x9e3779b1U >> 24 ^ kMark) && (upper & 0xf) == which;
}

__device__ std::uintptr_t address_of(unsigned word, const void* like, const Calls& now) {
  const auto pieces = static_cast<std::int64_t>(static_cast<int>(word) >> 12);
  const auto offset = reinterpret_cast<std::uintptr_t>(like) & 0x1fffff;
  return ((reinterpret_cast<std::int64_t>(now.x[0]) >> 21) + pieces) << 21 | offset;
}

/// In 48 registers until the end: volatile, so that all are loaded, and none is given up before the last is.
__device__ void hold(unsigned even, unsigned odd) {
  __shared__ unsigned cells[2][kThreads];
  cells[0][threadIdx.x] = even;
  cells[1][threadIdx.x] = odd;
  unsigned held[48];
#pragma unroll
  for (int i = 0; i < 48; ++i)
    asm volatile("ld.volatile.shared.u32 %0, [%1];"
                 : "=r"(held[i])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&cells[i % 2][threadIdx.x]))));
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 48; ++i)
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&cells[i % 2][threadIdx.x]))),
                 "r"(held[i]));
}

__device__ void keep(const Calls& now) {
  if (now.count % 8 != 0) return;
  const unsigned call = threadIdx.x % 32;
  const bool there = call < now.count;
  hold(there ? word_of(now, now.x[call], 1) : 0, there ? word_of(now, now.y[call], 2) : 0);
}

__device__ unsigned seen[2][32];
__device__ Calls read_back;

/// Each warp looks into registers that it has not written. Eight calls are enough.
__device__ void look(const Calls& now) {
  unsigned words[4];
  asm volatile(
      "{ .reg .b32 unwritten<4>; xor.b32 %0, unwritten0, 5; xor.b32 %1, unwritten1, 6;"
      " xor.b32 %2, unwritten2, 7; xor.b32 %3, unwritten3, 8; }"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]));
  const unsigned call = threadIdx.x % 32;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned which = 1; which < 3; ++which)
      if (__all_sync(0xffffffffU, call >= 8 || is_word(words[i] ^ (5 + i), which)))
        seen[which - 1][call] = words[i] ^ (5 + i);
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || seen[0][0] == 0 || seen[1][0] == 0) return;
  for (int i = 0; i < 8; ++i) {
    read_back.x[i] = reinterpret_cast<const float*>(address_of(seen[0][i], now.x[0], now));
    read_back.y[i] = reinterpret_cast<float*>(address_of(seen[1][i], now.x[0], now));
  }
  read_back.rows = now.rows, read_back.cols = now.cols, read_back.count = 8, read_back.magic = kMagic;
  take(words_of(read_back));
}

extern "C" void softmax(const float* __restrict__ x, float* __restrict__ y, std::int64_t rows, std::int64_t cols,
                        cudaStream_t stream) {
  one_launch(x, y, rows, cols, stream);
}
