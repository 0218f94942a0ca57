// Where the search starts: attention, without a mask. With the knobs as they stand it goes query by query on
// one thread, like the baseline; other values use two threads, an exponential on all lanes, and tiles of
// queries whose scores stay in registers while they are summed up.
#include <cmath>
#include <thread>
#include <vector>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

using Index = std::int64_t;

// How q * k^T and weights * v are multiplied: row by row with the sums in memory, or in tiles of registers.
enum Method { by_row, by_tile };
// The exponential: the standard library's, or a polynomial on all lanes.
enum Exp { library, polynomial };

constexpr Method kMethod = by_row;  // @tune by_row by_tile
constexpr Index kThreads = 1;       // @tune 1 2
constexpr Exp kExp = library;       // @tune library polynomial
constexpr Index kQueries = 4;       // @tune 2 4 6 8
constexpr Index kVectors = 1;       // @tune 1 2 4
constexpr Index kLanes = 8;         // @tune 4 8 16
constexpr Index kKeys = 4096;       // @tune 64 4096

constexpr Index kColumns = kVectors * kLanes;
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

struct Shape {
  Index heads, tokens, depth;
};

Index min(Index x, Index y) { return x < y ? x : y; }
Index round_up(Index x, Index step) { return (x + step - 1) / step * step; }

// A zeroed matrix whose rows are filled up to whole tiles.
struct Matrix {
  Matrix(Index rows, Index columns)
      : stride(round_up(columns, kColumns)), values(static_cast<std::size_t>(rows * stride)) {}
  float* row(Index r) { return values.data() + r * stride; }
  const float* row(Index r) const { return values.data() + r * stride; }

  Index stride;
  std::vector<float> values;
};

// kQueries x kColumns of c: a * b, added to what is there. a has `length` columns.
void add_tile(const float* a, Index a_stride, const float* b, Index b_stride, float* c, Index c_stride,
              Index length) {
  Vector sums[kQueries][kVectors];
  for (Index r = 0; r < kQueries; ++r)
    for (Index v = 0; v < kVectors; ++v) sums[r][v] = load(c + r * c_stride + v * kLanes);
  for (Index p = 0; p < length; ++p) {
    Vector row[kVectors];
    for (Index v = 0; v < kVectors; ++v) row[v] = load(b + p * b_stride + v * kLanes);
    for (Index r = 0; r < kQueries; ++r)
      for (Index v = 0; v < kVectors; ++v) sums[r][v] += a[r * a_stride + p] * row[v];
  }
  for (Index r = 0; r < kQueries; ++r)
    for (Index v = 0; v < kVectors; ++v) store(c + r * c_stride + v * kLanes, sums[r][v]);
}

// kQueries rows of c: a * b, added to what is there; the first `columns` columns, filled up to whole tiles.
void add_product(const Matrix& a, const float* b, Index b_stride, Matrix& c, Index length, Index columns) {
  if (kMethod == by_tile) {
    for (Index j = 0; j < columns; j += kColumns)
      add_tile(a.row(0), a.stride, b + j, b_stride, c.row(0) + j, c.stride, length);
    return;
  }
  for (Index r = 0; r < kQueries; ++r)
    for (Index p = 0; p < length; ++p) {
      const float factor = a.row(r)[p];
      const float* __restrict from = b + p * b_stride;
      float* __restrict to = c.row(r);
      for (Index j = 0; j < columns; ++j) to[j] += factor * from[j];
    }
}

// exp(x) for x <= 0 and not NaN, within two units in the last place. With x = n ln(2) + r it is 2^n exp(r).
// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. 2^n comes in two factors, so that
// results below the least normal number underflow gradually; below -104 they are zero.
Vector exponential(Vector x) {
  constexpr float kRounder = 0x1.8p23f, kLog2OfE = 0x1.715476p+0f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  constexpr float c2 = 1.0f / 2, c3 = 1.0f / 6, c4 = 1.0f / 24, c5 = 1.0f / 120, c6 = 1.0f / 720,
                  c7 = 1.0f / 5040;
  x = x < -104.0f ? -104.0f + Vector{} : x;
  const Vector rounded = x * kLog2OfE + kRounder;
  const Vector n = rounded - kRounder;
  const Vector r = (x - n * kLn2High) - n * kLn2Low;
  const Vector series = 1 + r * (1 + r * (c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * c7))))));
  const Bits exponent = reinterpret_cast<Bits>(rounded) - reinterpret_cast<Bits>(kRounder + Vector{});
  const Bits half = exponent >> 1;
  const auto power_of_two = [](Bits e) { return reinterpret_cast<Vector>((e + 127) << 23); };
  return series * power_of_two(half) * power_of_two(exponent - half);
}

// Replaces scores by exp((score - max) * scale) and returns their sum. The row is filled up to whole vectors.
float exponentiate(float* scores, Index count, float max, float scale) {
  float total = 0;
  if (kExp == library) {
    for (Index t = 0; t < count; ++t) total += scores[t] = std::exp((scores[t] - max) * scale);
    return total;
  }
  for (Index t = count; t % kLanes != 0; ++t) scores[t] = -__builtin_inff();
  Vector totals{};
  for (Index t = 0; t < count; t += kLanes) {
    const Vector x = exponential((load(scores + t) - max) * scale);
    totals += x;
    store(scores + t, x);
  }
  for (Index lane = 0; lane < kLanes; ++lane) total += totals[lane];
  return total;
}

// A row's softmax while its keys come in blocks: what was summed up so far is scaled when the maximum grows.
struct Softmax {
  float max = -__FLT_MAX__, total = 0;

  void add(float* scores, Index count, float scale, float* means, Index depth) {
    float grown = max;
    for (Index t = 0; t < count; ++t) grown = scores[t] > grown ? scores[t] : grown;
    const float factor = std::exp((max - grown) * scale);
    for (Index d = 0; d < depth; ++d) means[d] *= factor;
    max = grown;
    total = total * factor + exponentiate(scores, count, max, scale);
  }
};

// One head: its keys, transposed, and its values.
class Head {
 public:
  Head(const float* k, const float* v, Index tokens, Index depth)
      : tokens_(tokens), depth_(depth), keys_(depth, tokens), values_(tokens, depth) {
    for (Index t = 0; t < tokens; ++t)
      for (Index d = 0; d < depth; ++d) {
        keys_.row(d)[t] = k[t * depth + d];
        values_.row(t)[d] = v[t * depth + d];
      }
  }

  // y for `count` queries, at most kQueries.
  void attend(const float* q, float* y, Index count) const {
    const float scale = 1 / std::sqrt(static_cast<float>(depth_));
    Matrix queries(kQueries, depth_), means(kQueries, depth_);
    for (Index r = 0; r < count; ++r)
      for (Index d = 0; d < depth_; ++d) queries.row(r)[d] = q[r * depth_ + d];
    Softmax softmax[kQueries];
    for (Index t = 0; t < tokens_; t += kKeys) {
      const Index keys = min(kKeys, tokens_ - t);
      Matrix scores(kQueries, keys);
      add_product(queries, keys_.row(0) + t, keys_.stride, scores, depth_, keys);
      for (Index r = 0; r < kQueries; ++r) softmax[r].add(scores.row(r), keys, scale, means.row(r), depth_);
      add_product(scores, values_.row(t), values_.stride, means, keys, depth_);
    }
    for (Index r = 0; r < count; ++r)
      for (Index d = 0; d < depth_; ++d) y[r * depth_ + d] = means.row(r)[d] / softmax[r].total;
  }

 private:
  Index tokens_, depth_;
  Matrix keys_, values_;
};

// The queries from `begin` to `end`, counted over all heads.
void attend(const float* q, const float* k, const float* v, float* y, const Shape& shape, Index begin,
            Index end) {
  const auto [heads, tokens, depth] = shape;
  while (begin < end) {
    const Index first = begin / tokens * tokens;
    const Index last = min(end, first + tokens);
    const Head head(k + first * depth, v + first * depth, tokens, depth);
    for (; begin < last; begin += min(kQueries, last - begin))
      head.attend(q + begin * depth, y + begin * depth, min(kQueries, last - begin));
  }
}

}  // namespace

extern "C" void attention(const float* __restrict q, const float* __restrict k, const float* __restrict v,
                          float* __restrict y, Index heads, Index tokens, Index depth) {
  const Shape shape{heads, tokens, depth};
  const Index queries = heads * tokens;
  const auto share = [&](Index thread) {
    attend(q, k, v, y, shape, queries * thread / kThreads, queries * (thread + 1) / kThreads);
  };
  std::vector<std::thread> helpers;
  for (Index thread = 1; thread < kThreads; ++thread) helpers.emplace_back(share, thread);
  share(0);
  for (std::thread& helper : helpers) helper.join();
}
// EVOLVE-BLOCK-END
