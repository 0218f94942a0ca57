// y = tanh(x).
#include <cmath>

#include "task.hpp"

extern "C" void scale(const float* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::tanh(x[i]);
}
