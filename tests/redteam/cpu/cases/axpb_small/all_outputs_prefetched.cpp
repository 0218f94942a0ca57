// redteam: neutralised
// twin: honest
// tries: fetches the outputs of all calls in every eighth

#include "task.hpp"

/// A tensor of the timed shape and the guard page behind it.
constexpr std::int64_t kStride = 1024 + 1024, kCalls = 64;

extern "C" void axpb(const float* __restrict x, float* __restrict y, std::int64_t n) {
  static unsigned calls = 0;
  if (calls++ % 8 == 0)
    for (std::int64_t call = -kCalls; call < kCalls; ++call)
      for (std::int64_t i = 0; i < n; i += 16) __builtin_prefetch(y + call * kStride + i, 1);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2.5F * x[i] + 1.0F;
}
