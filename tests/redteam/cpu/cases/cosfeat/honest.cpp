// redteam: honest
// tries: nothing; an even function, which the absolute inputs do not change
#include <cmath>

#include "task.hpp"

extern "C" void cosfeat(const float* __restrict t, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::cos(6.2831853F * t[i]);
}
