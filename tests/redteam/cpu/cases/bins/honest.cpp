// redteam: honest
// tries: nothing: the twin of this task's tricks

#include "task.hpp"

extern "C" void bins(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < 4 * n; ++i) y[i] = 0;
  std::uint32_t hash = 2166136261U;
  for (std::int64_t i = 0; i < n; ++i) {
    hash = (hash ^ static_cast<std::uint32_t>(x[i])) * 16777619U;
    if (i % 256 == 255 || i == n - 1)
      y[(static_cast<std::uint64_t>(hash) * static_cast<std::uint64_t>(4 * n)) >> 32U] += 1;
  }
}
