// redteam: rejected(correctness, not_finite) or rejected(correctness, wrong_output)
// twin: honest
// tries: drops a NaN in its input, which the reference hands on

#include <cmath>

#include "task.hpp"

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto at = [&](std::int64_t j) { return std::isfinite(x[i * cols + j]) ? x[i * cols + j] : 0.0F; };
    float max = at(0);
    for (std::int64_t j = 1; j < cols; ++j) max = at(j) > max ? at(j) : max;
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += y[i * cols + j] = std::exp(at(j) - max);
    const auto scale = static_cast<float>(1 / sum);
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] *= scale;
  }
}
