// What candidates are timed against: a kernel as fast as good candidates, so that what disturbs one of the
// two disturbs the other. Four vectors of partial sums, then one multiplication, written past the caches.
// Nobody is scored by beating it.
#include <cmath>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kLanes = 16, kVectors = 4, kStep = kLanes * kVectors;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

// To an aligned place.
void stream(float* to, Vector vector) {
#if defined(__SSE2__)
  __m128 fours[kLanes / 4];
  __builtin_memcpy(fours, &vector, sizeof vector);
  for (Index i = 0; i < kLanes / 4; ++i) _mm_stream_ps(to + 4 * i, fours[i]);
#else
  __builtin_memcpy(to, &vector, sizeof vector);
#endif
}

float mean_of_squares(const float* row, Index cols) {
  Vector sums[kVectors] = {};
  Index j = 0;
  for (; j + kStep <= cols; j += kStep)
    for (Index v = 0; v < kVectors; ++v) {
      const Vector x = load(row + j + v * kLanes);
      sums[v] += x * x;
    }
  const Vector total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (Index lane = 0; lane < kLanes; ++lane) sum += total[lane];
  for (; j < cols; ++j) sum += row[j] * row[j];
  return sum / static_cast<float>(cols);
}

// How many elements come before the first aligned one.
Index unaligned(const float* to) {
  constexpr Index kBytes = sizeof(Vector);
  const auto address = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to));
  return (kBytes - address % kBytes) % kBytes / static_cast<Index>(sizeof(float));
}

}  // namespace

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        Index cols, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    const float scale = 1 / std::sqrt(mean_of_squares(in, cols) + 1e-5f);
    Index j = 0;
    for (const Index head = unaligned(out); j < head && j < cols; ++j) out[j] = in[j] * scale * weights[j];
    for (; j + kLanes <= cols; j += kLanes) stream(out + j, load(in + j) * scale * load(weights + j));
    for (; j < cols; ++j) out[j] = in[j] * scale * weights[j];
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
