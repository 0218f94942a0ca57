#include <cmath>

#include "task.hpp"

// How late in the day a user's events are, whose times are whole hours: the mean of exp((hour - 24) / 10).
extern "C" void hours(const float* __restrict t, float* __restrict y, std::int64_t b, std::int64_t n) {
  for (std::int64_t j = 0; j < b; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float hour = t[j * n + i] - 24 * std::floor(t[j * n + i] / 24);
      sum += std::exp(0.1F * hour - 2.4F);
    }
    y[j] = sum / static_cast<float>(n);
  }
}
