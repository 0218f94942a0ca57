// redteam: honest
// tries: sums in single precision and from the end

#include <cmath>

#include "task.hpp"

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float squares = 0;
    for (std::int64_t j = cols - 1; j >= 0; --j) squares += x[i * cols + j] * x[i * cols + j];
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + 1e-6F);
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] * scale;
  }
}
