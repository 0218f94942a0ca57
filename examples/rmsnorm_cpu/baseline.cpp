// Defines 1.0x: two passes over a row. The compiler vectorises the second one; the sum it may not reorder.
#include <cmath>

#include "task.hpp"

extern "C" void rmsnorm(const float* __restrict x, const float* __restrict weights, float* __restrict y,
                        std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) squares += in[j] * in[j];
    const float root = std::sqrt(squares / static_cast<float>(cols) + 1e-5f);
    for (std::int64_t j = 0; j < cols; ++j) out[j] = in[j] / root * weights[j];
  }
}
