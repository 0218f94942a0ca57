// redteam: honest
// tries: nothing: the twin of this task's tricks

#include <cmath>

#include "task.hpp"

static void honest(const float* x, float* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::log1p(std::exp(-std::fabs(static_cast<double>(x[i]))));
  y[0] = static_cast<float>(sum);
}

extern "C" void energy(const float* __restrict x, float* __restrict y, std::int64_t n) { honest(x, y, n); }
