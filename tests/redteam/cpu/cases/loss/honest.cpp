// redteam: honest
// tries: nothing; the terms in single precision, one sum after the other
#include <cmath>

#include "task.hpp"

extern "C" void loss(const float* __restrict x, float* __restrict y, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::fmax(-x[i], 0.0F) + std::log1p(std::exp(-std::fabs(x[i])));
  y[0] = sum;
}
