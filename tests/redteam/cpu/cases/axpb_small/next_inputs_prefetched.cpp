// redteam: neutralised
// twin: honest
// tries: has the memory of the next call fetched meanwhile, whose place it can guess, so that caches are not cold
// open: gains up to TO MEASURE x below 20 us a call: several calls of a batch are there at once

#include "task.hpp"

/// A tensor of the timed shape and the guard page behind it.
constexpr std::int64_t kStride = 1024 + 1024;

extern "C" void axpb(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t begin = 0; begin < n; begin += 16) {
    __builtin_prefetch(x + begin + kStride);
    __builtin_prefetch(y + begin + kStride, 1);
    const std::int64_t end = begin + 16 < n ? begin + 16 : n;
    for (std::int64_t i = begin; i < end; ++i) y[i] = 2.5F * x[i] + 1.0F;
  }
}
