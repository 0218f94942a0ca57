#include <cmath>

#include "task.hpp"

// A step of gradient descent: weights less a thousandth of what the samples have for a gradient in the mean.
extern "C" void step(const float* __restrict w, const float* __restrict z, float* __restrict y,
                     std::int64_t d, std::int64_t n) {
  for (std::int64_t j = 0; j < d; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += 1 / (1 + std::exp(-z[j * n + i]));
    y[j] = w[j] - 1e-3F * (sum / static_cast<float>(n));
  }
}
