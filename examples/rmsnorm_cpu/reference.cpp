// Defines what is correct: y = x / sqrt(mean(x * x) + 1e-5) * weights along each row. All of it is kept in
// double, so the reference adds no error of its own to the error that a kernel may have.
#include <cmath>

#include "task.hpp"

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) {
      const double value = x[i * cols + j];
      squares += value * value;
    }
    const double root = std::sqrt(squares / static_cast<double>(cols) + 1e-5);
    for (std::int64_t j = 0; j < cols; ++j) {
      const double value = x[i * cols + j];
      y[i * cols + j] = static_cast<float>(value / root * weights[j]);
    }
  }
}
