// A walk of 512 steps through a table, as in a search tree: each place depends on what was found at the one
// before.
#include "task.hpp"

constexpr int kSteps = 512;

extern "C" void walk(const std::int32_t* __restrict x, std::int32_t* __restrict y, std::int64_t n) {
  std::uint32_t hash = 2166136261U;
  for (int i = 0; i < kSteps; ++i) {
    const std::uint64_t at = (static_cast<std::uint64_t>(hash) * static_cast<std::uint64_t>(n)) >> 32U;
    hash = (hash ^ static_cast<std::uint32_t>(x[at])) * 16777619U;
  }
  y[0] = static_cast<std::int32_t>(hash);
}
