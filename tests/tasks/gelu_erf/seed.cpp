// 1 + erf(z) is erfc(-z), whose logarithm is a polynomial: erfc(t) = exp(-t Q(t)) for t >= 0.
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

// erfc(t) for 0 <= t, from 4.3 on zero. Q interpolates -log(erfc(t)) / t at Chebyshev's points of [0, 4.3].
inline float complement(float t) {
  constexpr float kQ[] = {1.12837958e+00f,  6.36600615e-01f, 1.02918244e-01f,  -1.95515486e-02f,
                          3.91598966e-04f,  1.25825600e-03f, -4.72473893e-04f, 8.96851397e-05f,
                          -9.16615662e-06f, 3.99137109e-07f};
  const float inside = t < 4.3f ? t : 4.3f;
  float q = kQ[9];
  for (int power = 8; power >= 0; --power) q = q * inside + kQ[power];
  const float value = exponential(-inside * q);
  return t < 4.3f ? value : 0.0f;
}

}  // namespace

extern "C" void gelu_erf(const float* __restrict x, float* __restrict y, std::int64_t rows,
                         std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const float z = x[i] * 0.7071067812f;
    const float tail = complement(z < 0 ? -z : z);
    y[i] = 0.5f * x[i] * (z < 0 ? tail : 2.0f - tail);
  }
}
// EVOLVE-BLOCK-END
