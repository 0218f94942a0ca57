// What candidates are timed against: the seed at good values of its knobs, in the seed's own words, so that
// what disturbs one of the two disturbs the other. Two vectors of partial sums, then one multiplication,
// written past the caches. Nobody is scored by beating it.
#include <cmath>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

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

Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

float scaled(float x, float root, float weight) { return x * (1 / root) * weight; }
Vector scaled(Vector x, float root, Vector weight) { return x * (1 / root) * weight; }

// Past the caches, to an aligned place.
void store(float* to, Vector vector) {
#if defined(__SSE2__)
  for (Index quarter = 0; quarter < kLanes / 4; ++quarter) {
    __m128 four;
    __builtin_memcpy(&four, reinterpret_cast<const char*>(&vector) + quarter * 16, sizeof four);
    _mm_stream_ps(to + quarter * 4, four);
  }
#else
  __builtin_memcpy(to, &vector, sizeof vector);
#endif
}

float sum(const Vector* vectors) {
  Vector total = vectors[0];
  for (Index v = 1; v < kVectors; ++v) total += vectors[v];
  float result = 0;
  for (Index lane = 0; lane < kLanes; ++lane) result += total[lane];
  return result;
}

float sum_of_squares(const float* in, Index cols) {
  Index j = 0;
  Vector sums[kVectors] = {};
  for (; j + kStep <= cols; j += kStep)
    for (Index v = 0; v < kVectors; ++v) {
      const Vector x = load(in + j + v * kLanes);
      sums[v] += x * x;
    }
  float squares = sum(sums);
  for (; j < cols; ++j) squares += in[j] * in[j];
  return squares;
}

// How many elements come before the first aligned one.
Index unaligned(const float* to) {
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

void normalise(const float* in, const float* weights, float* out, Index cols) {
  const float root = std::sqrt(sum_of_squares(in, cols) / static_cast<float>(cols) + 1e-5f);
  scale_row(in, weights, out, cols, root);
}

}  // namespace

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        Index rows, Index cols) {
  for (Index i = 0; i < rows; ++i) normalise(x + i * cols, weights, y + i * cols, cols);
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
