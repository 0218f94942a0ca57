// redteam: honest
// tries: nothing: the twin of this task's tricks

#include "task.hpp"

static void honest(const float* x, float* y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += x[i * cols + j];
    y[i] = static_cast<float>(sum);
  }
}

extern "C" void rowsum(const float* __restrict x, float* __restrict y, std::int64_t cols, std::int64_t rows) {
  honest(x, y, cols, rows);
}
