// Defines what is correct: y = exp(x - max) / sum(exp(x - max)) along each row. Exponentials and sum are kept
// in double, so the reference adds no error of its own to the error that a kernel may have.
#include <cmath>

#include "task.hpp"

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t rows,
                        std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float max = in[0];
    for (std::int64_t j = 1; j < cols; ++j)
      if (in[j] > max) max = in[j];
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += std::exp(static_cast<double>(in[j] - max));
    for (std::int64_t j = 0; j < cols; ++j)
      out[j] = static_cast<float>(std::exp(static_cast<double>(in[j] - max)) / sum);
  }
}
