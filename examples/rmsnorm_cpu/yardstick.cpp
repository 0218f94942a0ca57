// What candidates are timed against: a kernel as fast as good candidates, so that what disturbs one of the
// two disturbs the other. Four vectors of partial sums, then one multiplication. Nobody is scored by beating
// it.
#include <cmath>

#include "task.hpp"

namespace {

using Index = std::int64_t;

constexpr Index kLanes = 8, kVectors = 4, kStep = kLanes * kVectors;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

float mean_of_squares(const float* row, Index cols) {
  Vector sums[kVectors] = {};
  Index j = 0;
  for (; j + kStep <= cols; j += kStep) {
    Vector x[kVectors];
    __builtin_memcpy(x, row + j, sizeof x);
    for (Index v = 0; v < kVectors; ++v) sums[v] += x[v] * x[v];
  }
  const Vector total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (Index lane = 0; lane < kLanes; ++lane) sum += total[lane];
  for (; j < cols; ++j) sum += row[j] * row[j];
  return sum / static_cast<float>(cols);
}

}  // namespace

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        Index cols, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    const float scale = 1 / std::sqrt(mean_of_squares(in, cols) + 1e-5f);
    for (Index j = 0; j < cols; ++j) out[j] = in[j] * scale * weights[j];
  }
}
