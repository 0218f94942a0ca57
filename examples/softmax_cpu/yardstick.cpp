// What candidates are timed against: the seed at good values of its knobs, in the seed's own words, so that
// what disturbs one of the two disturbs the other. Three passes, two vectors at a time, with a polynomial
// exponential on all lanes. Nobody is scored by beating it.
#include "task.hpp"

namespace {

using Index = std::int64_t;

// As many as a register of the machine holds.
#if defined(__AVX512F__)
constexpr Index kLanes = 16;
#else
constexpr Index kLanes = 8;
#endif
constexpr Index kVectors = 2;
constexpr Index kStep = kVectors * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

// One vector at a time: what is larger the compiler may copy in narrower pieces, and a vector read from what
// was just written in pieces waits for them.
Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
void store(float* to, Vector vector) { __builtin_memcpy(to, &vector, sizeof vector); }

constexpr float kInfinity = __builtin_inff();
constexpr float kLowest = -__FLT_MAX__;

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
// group has beyond the row is minus infinity, which adds nothing to a maximum or to a sum of exponentials.
template <class Function>
void for_each_group(const float* row, Index cols, Function function) {
  Group group;
  Index j = 0;
  for (; j + kStep <= cols; j += kStep) {
    for (Index v = 0; v < kVectors; ++v) group.part[v] = load(row + j + v * kLanes);
    function(group, j, kStep);
  }
  if (j == cols) return;
  group = filled_with(-kInfinity);
  __builtin_memcpy(&group, row + j, static_cast<std::size_t>(cols - j) * sizeof(float));
  function(group, j, cols - j);
}

void store(float* to, const Group& group, Index count) {
  if (count == kStep)
    for (Index v = 0; v < kVectors; ++v) store(to + v * kLanes, group.part[v]);
  else
    __builtin_memcpy(to, &group, static_cast<std::size_t>(count) * sizeof(float));
}

// exp(r) for |r| <= ln(2)/2: the series up to r^7/7!.
Vector series(Vector r) {
  constexpr float c2 = 1.0f / 2, c3 = 1.0f / 6, c4 = 1.0f / 24, c5 = 1.0f / 120, c6 = 1.0f / 720,
                  c7 = 1.0f / 5040;
  const Vector r2 = r * r;
  return (1 + r) + r2 * ((c2 + c3 * r) + r2 * ((c4 + c5 * r) + r2 * (c6 + c7 * r)));
}

Vector power_of_two(Bits n) { return reinterpret_cast<Vector>((n + 127) << 23); }

// exp(x) for x <= 0, NaN for NaN: x = n ln(2) + r, 2^n in two factors so that small results underflow
// gradually.
Vector exponential(Vector x) {
  constexpr float kRounder = 0x1.8p23f, kLog2OfE = 0x1.715476p+0f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  x = x < -104.0f ? -104.0f + Vector{} : x;
  const Vector rounded = x * kLog2OfE + kRounder;
  const Vector n = rounded - kRounder;
  const Vector r = (x - n * kLn2High) - n * kLn2Low;
  const Bits exponent = reinterpret_cast<Bits>(rounded) - reinterpret_cast<Bits>(kRounder + Vector{});
  const Bits half = exponent >> 1;
  return series(r) * power_of_two(half) * power_of_two(exponent - half);
}

Vector larger(Vector x, Vector y) { return x > y ? x : y; }

float maximum(const Group& group) {
  Vector largest = kLowest + Vector{};
  for (const Vector& part : group.part) largest = larger(part, largest);
  float result = kLowest;
  for (Index lane = 0; lane < kLanes; ++lane) result = largest[lane] > result ? largest[lane] : result;
  return result;
}

float sum(const Group& group) {
  Vector total{};
  for (const Vector& part : group.part) total += part;
  float result = 0;
  for (Index lane = 0; lane < kLanes; ++lane) result += total[lane];
  return result;
}

void softmax_of_row(const float* in, float* out, Index cols) {
  Group maxima = filled_with(kLowest);
  for_each_group(in, cols, [&](Group& x, Index, Index) {
    for (Index v = 0; v < kVectors; ++v) maxima.part[v] = larger(x.part[v], maxima.part[v]);
  });
  const float max = maximum(maxima);

  Group sums = filled_with(0);
  for_each_group(in, cols, [&](Group& x, Index j, Index count) {
    for (Index v = 0; v < kVectors; ++v) {
      x.part[v] = exponential(x.part[v] - max);
      sums.part[v] += x.part[v];
    }
    store(out + j, x, count);
  });
  const float factor = 1 / sum(sums);

  for_each_group(out, cols, [&](Group& x, Index j, Index count) {
    for (Vector& part : x.part) part *= factor;
    store(out + j, x, count);
  });
}

}  // namespace

extern "C" void softmax(const float* __restrict x, float* __restrict y, Index rows, Index cols) {
  for (Index row = 0; row < rows; ++row) softmax_of_row(x + row * cols, y + row * cols, cols);
}
