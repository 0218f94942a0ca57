// What candidates are timed against: a kernel as fast as good candidates, so that what disturbs one of the
// two disturbs the other. Three passes, two vectors at a time, with a polynomial exponential on all lanes.
// Nobody is scored by beating it.
#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kLanes = 16, kStep = 2 * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

constexpr float kInfinity = __builtin_inff(), kLowest = -__FLT_MAX__;

struct Pair {
  Vector first, second;
};

// Up to kStep neighbours; what is beyond the row is minus infinity, whose exponential is zero.
Pair load(const float* from, Index count) {
  Pair pair{Vector{} - kInfinity, Vector{} - kInfinity};
  if (count >= kStep)
    __builtin_memcpy(&pair, from, sizeof pair);
  else
    __builtin_memcpy(&pair, from, static_cast<std::size_t>(count) * sizeof(float));
  return pair;
}

void store(float* to, const Pair& pair, Index count) {
  if (count >= kStep)
    __builtin_memcpy(to, &pair, sizeof pair);
  else
    __builtin_memcpy(to, &pair, static_cast<std::size_t>(count) * sizeof(float));
}

// exp(x) for x <= 0, NaN for NaN: x = n ln(2) + r, 2^n in two factors so that small results underflow
// gradually, and the series of exp(r) up to r^7/7!.
Vector exponential(Vector x) {
  constexpr float kRounder = 0x1.8p23f;
  x = x < -104.0f ? Vector{} - 104.0f : x;
  const Vector rounded = x * 0x1.715476p+0f + kRounder;
  const Vector n = rounded - kRounder;
  const Vector r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  const Vector r2 = r * r;
  const Vector series =
      (1 + r) + r2 * ((1.0f / 2 + r * (1.0f / 6)) +
                      r2 * ((1.0f / 24 + r * (1.0f / 120)) + r2 * (1.0f / 720 + r * (1.0f / 5040))));
  const Bits exponent = reinterpret_cast<Bits>(rounded) - reinterpret_cast<Bits>(kRounder + Vector{});
  const Bits half = exponent >> 1;
  return series * reinterpret_cast<Vector>((half + 127) << 23) *
         reinterpret_cast<Vector>((exponent - half + 127) << 23);
}

float maximum(const float* row, Index cols) {
  Pair maxima{Vector{} + kLowest, Vector{} + kLowest};
  for (Index j = 0; j < cols; j += kStep) {
    const Pair x = load(row + j, cols - j);
    maxima.first = x.first > maxima.first ? x.first : maxima.first;
    maxima.second = x.second > maxima.second ? x.second : maxima.second;
  }
  const Vector both = maxima.first > maxima.second ? maxima.first : maxima.second;
  float max = both[0];
  for (Index lane = 1; lane < kLanes; ++lane) max = both[lane] > max ? both[lane] : max;
  return max;
}

}  // namespace

extern "C" void softmax(const float* __restrict x, float* __restrict y, Index cols, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    const float max = maximum(in, cols);
    Pair sums{};
    for (Index j = 0; j < cols; j += kStep) {
      Pair e = load(in + j, cols - j);
      e = {exponential(e.first - max), exponential(e.second - max)};
      sums = {sums.first + e.first, sums.second + e.second};
      store(out + j, e, cols - j);
    }
    const Vector both = sums.first + sums.second;
    float sum = 0;
    for (Index lane = 0; lane < kLanes; ++lane) sum += both[lane];
    const float scale = 1 / sum;
    for (Index j = 0; j < cols; ++j) out[j] *= scale;
  }
}
