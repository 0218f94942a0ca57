// Where the search starts: softmax along the rows of x. With the knobs as they stand it makes the usual three
// passes and calls the standard library's exp for each element; other values change how the exponential is
// computed, how many elements advance together, and how often a row is read.
#include <cmath>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

using Index = std::int64_t;

// The exponential: the standard library's, or a polynomial on all lanes, in one of two orders of evaluation.
enum Exp { library, horner, estrin };
// three: the maximum, the exponentials with their sum, the scaling.
// online: maximum and sum together (the sum is scaled when the maximum grows), the exponentials with scaling.
enum Passes { three, online };

constexpr Exp kExp = library;      // @tune library horner estrin
constexpr Passes kPasses = three;  // @tune three online
constexpr bool kDivide = true;     // @tune true false
constexpr Index kVectors = 1;      // @tune 1 2 4 8
constexpr Index kLanes = 4;        // @tune 4 8 16

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

// exp(r) for |r| <= ln(2)/2: the series up to r^7/7!, a tenth of a unit in the last place off.
Vector series(Vector r) {
  constexpr float c2 = 1.0f / 2, c3 = 1.0f / 6, c4 = 1.0f / 24, c5 = 1.0f / 120, c6 = 1.0f / 720,
                  c7 = 1.0f / 5040;
  if (kExp == horner) return 1 + r * (1 + r * (c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * c7))))));
  const Vector r2 = r * r;
  return (1 + r) + r2 * ((c2 + c3 * r) + r2 * ((c4 + c5 * r) + r2 * (c6 + c7 * r)));
}

Vector power_of_two(Bits n) { return reinterpret_cast<Vector>((n + 127) << 23); }

// exp(x) for x <= 0; NaN for NaN. With x = n ln(2) + r it is 2^n exp(r). Adding 1.5 * 2^23 rounds to an
// integer and leaves it in the low bits. 2^n comes in two factors, so that results below the least normal
// number underflow gradually; below -104 they are zero.
Vector exponential(Vector x) {
  if (kExp == library) {
    for (Index lane = 0; lane < kLanes; ++lane) x[lane] = std::exp(x[lane]);
    return x;
  }
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

// What an exponential is divided by, or multiplied with.
float factor_of(float sum) { return kDivide ? sum : 1 / sum; }
Vector normalised(Vector exponentials, float factor) {
  return kDivide ? exponentials / factor : exponentials * factor;
}

void softmax_in_three_passes(const float* in, float* out, Index cols) {
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
  const float factor = factor_of(sum(sums));

  for_each_group(out, cols, [&](Group& x, Index j, Index count) {
    for (Vector& part : x.part) part = normalised(part, factor);
    store(out + j, x, count);
  });
}

void softmax_online(const float* in, float* out, Index cols) {
  Vector maxima = kLowest + Vector{};
  Group sums = filled_with(0);
  for_each_group(in, cols, [&](Group& x, Index, Index) {
    Vector grown = maxima;
    for (const Vector& part : x.part) grown = larger(part, grown);
    const Vector scale = exponential(maxima - grown);
    maxima = grown;
    for (Index v = 0; v < kVectors; ++v)
      sums.part[v] = sums.part[v] * scale + exponential(x.part[v] - maxima);
  });
  Group lanes = filled_with(kLowest);
  lanes.part[0] = maxima;
  const float max = maximum(lanes);
  for (Vector& part : sums.part) part *= exponential(maxima - max);
  const float factor = factor_of(sum(sums));

  for_each_group(in, cols, [&](Group& x, Index j, Index count) {
    for (Vector& part : x.part) part = normalised(exponential(part - max), factor);
    store(out + j, x, count);
  });
}

}  // namespace

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t rows,
                        std::int64_t cols) {
  for (Index row = 0; row < rows; ++row) {
    if (kPasses == three)
      softmax_in_three_passes(x + row * cols, y + row * cols, cols);
    else
      softmax_online(x + row * cols, y + row * cols, cols);
  }
}
// EVOLVE-BLOCK-END
