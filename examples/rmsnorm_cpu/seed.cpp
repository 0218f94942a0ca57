// Where the search starts: each row over its root mean square. With the knobs as they stand it sums up the
// squares one after the other, like the baseline; other values change how many sums advance together, how a
// row is scaled, and how it is written.
#include <cmath>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

using Index = std::int64_t;

// The squares of a row: added up one after the other, or in kVectors vectors of partial sums.
enum Sums { in_order, in_lanes };
// x over the root, or x times its reciprocal.
enum Scale { divide, multiply };
// streaming: past the caches, if the processor can; y is not read again.
enum Stores { cached, streaming };

constexpr Sums kSums = in_order;    // @tune in_order in_lanes
constexpr Index kRows = 1;          // @tune 1 2 4
constexpr Index kVectors = 1;       // @tune 1 2 4 8
constexpr Index kLanes = 8;         // @tune 4 8 16
constexpr Scale kScale = divide;    // @tune divide multiply
constexpr Stores kStores = cached;  // @tune cached streaming

constexpr Index kStep = kVectors * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

float scaled(float x, float root, float weight) {
  return kScale == divide ? x / root * weight : x * (1 / root) * weight;
}
Vector scaled(Vector x, float root, Vector weight) {
  return kScale == divide ? x / root * weight : x * (1 / root) * weight;
}

// `to` is aligned if the stores are streaming.
void store(float* to, Vector vector) {
#if defined(__SSE2__)
  if (kStores == streaming) {
    for (Index quarter = 0; quarter < kLanes / 4; ++quarter) {
      __m128 four;
      __builtin_memcpy(&four, reinterpret_cast<const char*>(&vector) + quarter * 16, sizeof four);
      _mm_stream_ps(to + quarter * 4, four);
    }
    return;
  }
#endif
  __builtin_memcpy(to, &vector, sizeof vector);
}

float sum(const Vector* vectors) {
  Vector total = vectors[0];
  for (Index v = 1; v < kVectors; ++v) total += vectors[v];
  float result = 0;
  for (Index lane = 0; lane < kLanes; ++lane) result += total[lane];
  return result;
}

// The sums of squares of neighbouring rows, side by side.
template <Index Rows>
void add_squares(const float* in, Index cols, float* squares) {
  Index j = 0;
  if (kSums == in_lanes) {
    Vector sums[Rows][kVectors] = {};
    for (; j + kStep <= cols; j += kStep)
      for (Index r = 0; r < Rows; ++r)
        for (Index v = 0; v < kVectors; ++v) {
          const Vector x = load(in + r * cols + j + v * kLanes);
          sums[r][v] += x * x;
        }
    for (Index r = 0; r < Rows; ++r) squares[r] = sum(sums[r]);
  }
  for (; j < cols; ++j)
    for (Index r = 0; r < Rows; ++r) squares[r] += in[r * cols + j] * in[r * cols + j];
}

// How many elements come before the first aligned one.
Index unaligned(const float* to) {
  if (kStores == cached) return 0;
  constexpr Index kBytes = kLanes * sizeof(float);
  const auto address = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to));
  return (kBytes - address % kBytes) % kBytes / static_cast<Index>(sizeof(float));
}

void scale_row(const float* __restrict in, const float* __restrict weights, float* __restrict out, Index cols,
               float root) {
  Index j = 0;
  for (const Index head = unaligned(out); j < head && j < cols; ++j) out[j] = scaled(in[j], root, weights[j]);
  for (; j + kLanes <= cols; j += kLanes) store(out + j, scaled(load(in + j), root, load(weights + j)));
  for (; j < cols; ++j) out[j] = scaled(in[j], root, weights[j]);
}

template <Index Rows>
void normalise(const float* in, const float* weights, float* out, Index cols) {
  float squares[Rows] = {};
  add_squares<Rows>(in, cols, squares);
  for (Index r = 0; r < Rows; ++r) {
    const float root = std::sqrt(squares[r] / static_cast<float>(cols) + 1e-5f);
    scale_row(in + r * cols, weights, out + r * cols, cols, root);
  }
}

}  // namespace

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        Index rows, Index cols) {
  Index i = 0;
  for (; i + kRows <= rows; i += kRows) normalise<kRows>(x + i * cols, weights, y + i * cols, cols);
  for (; i < rows; ++i) normalise<1>(x + i * cols, weights, y + i * cols, cols);
#if defined(__SSE2__)
  if (kStores == streaming) _mm_sfence();
#endif
}
// EVOLVE-BLOCK-END
