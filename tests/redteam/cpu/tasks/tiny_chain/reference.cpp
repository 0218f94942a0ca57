// A hash of all elements, each step of which needs the one before.
#include "task.hpp"

extern "C" void chain(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  std::uint32_t hash = 2166136261U;
  for (std::int64_t i = 0; i < n; ++i) hash = (hash ^ static_cast<std::uint32_t>(x[i])) * 16777619U;
  y[0] = static_cast<std::int32_t>(hash);
}
