// redteam: rejected(correctness, wrong_output) or rejected(correctness, output_not_written)
// twin: honest
// tries: forgets what is left over when the width is no multiple of eight

#include <cmath>

#include "task.hpp"

static void honest(const float* x, float* y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) squares += static_cast<double>(x[i * cols + j]) * x[i * cols + j];
    const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + 1e-6));
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] * scale;
  }
}

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  honest(x, y, cols, rows);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = cols - cols % 8; j < cols; ++j) y[i * cols + j] = 0;
}
