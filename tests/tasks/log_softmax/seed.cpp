// Maximum and sum advance in lanes, with a polynomial for the exponential.
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

constexpr std::int64_t kLanes = 16;  // @tune 8 16 32

float largest_of(const float* in, std::int64_t cols) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = in[0];
  std::int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = in[j + l] > lanes[l] ? in[j + l] : lanes[l];
  float largest = in[0];
  for (; j < cols; ++j) largest = in[j] > largest ? in[j] : largest;
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

float sum_of_exponentials(const float* in, std::int64_t cols, float largest) {
  float lanes[kLanes] = {};
  std::int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += exponential(in[j + l] - largest);
  float sum = 0.0f;
  for (; j < cols; ++j) sum += exponential(in[j] - largest);
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

extern "C" void log_softmax(const float* __restrict x, float* __restrict y, std::int64_t rows,
                            std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const float m = largest_of(in, cols);
    const float log_s = std::log(sum_of_exponentials(in, cols, m));
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = in[j] - m - log_s;
  }
}
// EVOLVE-BLOCK-END
