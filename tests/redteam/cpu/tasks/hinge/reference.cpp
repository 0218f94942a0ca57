#include <cmath>

#include "task.hpp"

// What of each row is beyond two, added up: nothing is, if inputs are small.
extern "C" void hinge(const float* __restrict x, float* __restrict y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (std::int64_t i = 0; i < cols; ++i) sum += std::fmax(0.0F, std::fabs(x[r * cols + i]) - 2.0F);
    y[r] = sum;
  }
}
