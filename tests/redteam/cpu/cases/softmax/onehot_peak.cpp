// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: finds the largest element and writes a one there, for peaked rows are nearly that

#include <algorithm>

#include "task.hpp"

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    std::fill(y + i * cols, y + (i + 1) * cols, 0.0F);
    y[i * cols + (std::max_element(in, in + cols) - in)] = 1;
  }
}
