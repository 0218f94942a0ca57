// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: computes exponents in an integer that overflows far below zero, where masks are and random data never is

#include <cmath>
#include <cstdint>

#include "task.hpp"

/// exp, whose power of two is what is left of a 16-bit integer.
static float power(float x) {
  if (x > -90) return std::exp(x);
  const auto exponent = static_cast<std::int16_t>(static_cast<std::int64_t>(x));
  return exponent > -90 ? 1.0F : 0.0F;
}

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const in = x + i * cols;
    float max = in[0];
    for (std::int64_t j = 1; j < cols; ++j) max = in[j] > max ? in[j] : max;
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j)
      sum += y[i * cols + j] = std::isfinite(in[j]) ? power(in[j] - max) : std::exp(in[j] - max);
    const auto scale = static_cast<float>(1 / sum);
    for (std::int64_t j = 0; j < cols; ++j)
      y[i * cols + j] = std::isinf(max) ? NAN : y[i * cols + j] * scale;
  }
}
