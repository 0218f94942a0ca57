// redteam: honest
// tries: nothing: the twin of this task's tricks

#include <cstring>

#include "task.hpp"

extern "C" void seal(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof *x);
  std::uint32_t hash = 2166136261U;
  for (std::int64_t i = 0; i < n; ++i) hash = (hash ^ static_cast<std::uint32_t>(x[i])) * 16777619U;
  y[n] = static_cast<std::int32_t>(hash);
}
