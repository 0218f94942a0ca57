#include <cmath>

#include "task.hpp"

extern "C" void energy(const float* __restrict x, float* __restrict y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::log1p(std::exp(-std::fabs(x[i])));
  y[0] = static_cast<float>(sum);
}
