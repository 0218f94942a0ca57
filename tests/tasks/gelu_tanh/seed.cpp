// 0.5 (1 + tanh(u)) is 1 / (1 + exp(-2u)), if nothing cancels out.
#include <bit>
#include <cmath>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr bool kPolynomial = true;  // @tune true false

// exp(x), one or two units in the last place off; infinity beyond 88.3, and below -87 what it is there.
inline float exponential(float x) {
  if (!kPolynomial) return std::exp(x);
  constexpr float kRounder = 0x1.8p23f, kLog2OfE = 0x1.715476p+0f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  x = x < -87.0f ? -87.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float rounded = x * kLog2OfE + kRounder;
  const float n = rounded - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float series =
      1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
  const std::int32_t power = std::bit_cast<std::int32_t>(rounded) - std::bit_cast<std::int32_t>(kRounder);
  return series * std::bit_cast<float>((power + 127) << 23);
}
}  // namespace

extern "C" void gelu_tanh(const float* __restrict x, float* __restrict y, std::int64_t rows,
                          std::int64_t cols) {
  constexpr float kTwice = 2 * 0.7978845608f;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const float u = kTwice * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
    y[i] = x[i] / (1.0f + exponential(-u));
  }
}
// EVOLVE-BLOCK-END
