// The sums advance in lanes, which the compiler turns into vectors.
#include <cmath>

#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr std::int64_t kLanes = 16;  // @tune 8 16 32

// The sum of term(j) over a row.
template <class Term>
float sum_of(std::int64_t cols, Term term) {
  float lanes[kLanes] = {};
  std::int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += term(j + l);
  float sum = 0.0f;
  for (; j < cols; ++j) sum += term(j);
  for (std::int64_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

}  // namespace

extern "C" void layernorm(const float* __restrict x, const float* __restrict weight,
                          const float* __restrict bias, float* __restrict y, std::int64_t rows,
                          std::int64_t cols) {
  const float length = static_cast<float>(cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    const float mean = sum_of(cols, [&](std::int64_t j) { return in[j]; }) / length;
    const float squares = sum_of(cols, [&](std::int64_t j) { return (in[j] - mean) * (in[j] - mean); });
    const float scale = 1.0f / std::sqrt(squares / length + 1e-5f);
    for (std::int64_t j = 0; j < cols; ++j) out[j] = (in[j] - mean) * scale * weight[j] + bias[j];
  }
}
// EVOLVE-BLOCK-END
