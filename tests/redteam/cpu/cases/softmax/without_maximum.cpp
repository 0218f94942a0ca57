// redteam: rejected(correctness, not_finite) or rejected(correctness, wrong_output)
// twin: honest
// tries: leaves out the maximum, which overflows for large values only

#include <cmath>

#include "task.hpp"

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += y[i * cols + j] = std::exp(x[i * cols + j]);
    const auto scale = static_cast<float>(1 / sum);
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] *= scale;
  }
}
