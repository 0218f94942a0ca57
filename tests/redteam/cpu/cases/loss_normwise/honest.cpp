// redteam: honest
// tries: nothing: the twin of this task's tricks
#include <cmath>

#include "task.hpp"

// The logistic loss of n margins.
extern "C" void loss(const float* __restrict x, float* __restrict y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::fmax(-x[i], 0) + std::log1p(std::exp(-std::fabs(x[i])));
  y[0] = static_cast<float>(sum);
}
