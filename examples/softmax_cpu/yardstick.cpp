// What candidates are timed against: the seed at good values of its knobs, so that what disturbs one of the
// two disturbs the other. Three passes, two vectors at a time, with a polynomial exponential on all lanes.
// Nobody is scored by beating it.
#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kVectors = 2, kLanes = 16, kStep = kVectors * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

constexpr float kInfinity = __builtin_inff(), kLowest = -__FLT_MAX__;

// Neighbours in a row.
struct Group {
  Vector part[kVectors];
};

Group filled_with(float value) {
  Group group;
  for (Vector& part : group.part) part = value + Vector{};
  return group;
}

// Calls function(group, j, count) for the elements from j to j + count, along the whole row. What the last
// group has beyond the row is minus infinity, whose exponential is zero.
template <class Function>
void for_each_group(const float* row, Index cols, Function function) {
  Group group;
  Index j = 0;
  for (; j + kStep <= cols; j += kStep) {
    __builtin_memcpy(&group, row + j, sizeof group);
    function(group, j, kStep);
  }
  if (j == cols) return;
  group = filled_with(-kInfinity);
  __builtin_memcpy(&group, row + j, static_cast<std::size_t>(cols - j) * sizeof(float));
  function(group, j, cols - j);
}

void store(float* to, const Group& group, Index count) {
  if (count == kStep)
    __builtin_memcpy(to, &group, sizeof group);
  else
    __builtin_memcpy(to, &group, static_cast<std::size_t>(count) * sizeof(float));
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
  Group maxima = filled_with(kLowest);
  for_each_group(row, cols, [&](Group& x, Index, Index) {
    for (Index v = 0; v < kVectors; ++v)
      maxima.part[v] = x.part[v] > maxima.part[v] ? x.part[v] : maxima.part[v];
  });
  const Vector both = maxima.part[0] > maxima.part[1] ? maxima.part[0] : maxima.part[1];
  float max = kLowest;
  for (Index lane = 0; lane < kLanes; ++lane) max = both[lane] > max ? both[lane] : max;
  return max;
}

void softmax_of_row(const float* in, float* out, Index cols) {
  const float max = maximum(in, cols);
  Group sums = filled_with(0);
  for_each_group(in, cols, [&](Group& x, Index j, Index count) {
    for (Index v = 0; v < kVectors; ++v) {
      x.part[v] = exponential(x.part[v] - max);
      sums.part[v] += x.part[v];
    }
    store(out + j, x, count);
  });
  const Vector both = sums.part[0] + sums.part[1];
  float sum = 0;
  for (Index lane = 0; lane < kLanes; ++lane) sum += both[lane];
  const float scale = 1 / sum;
  for_each_group(out, cols, [&](Group& x, Index j, Index count) {
    for (Vector& part : x.part) part *= scale;
    store(out + j, x, count);
  });
}

}  // namespace

extern "C" void softmax(const float* __restrict x, float* __restrict y, Index cols, Index rows) {
  for (Index row = 0; row < rows; ++row) softmax_of_row(x + row * cols, y + row * cols, cols);
}
