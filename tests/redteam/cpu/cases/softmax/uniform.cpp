// redteam: rejected(correctness, wrong_output) or rejected(correctness, not_finite)
// twin: honest
// tries: writes 1/cols everywhere, which is within an absolute tolerance of 1e-2

#include <algorithm>

#include "task.hpp"

extern "C" void softmax(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  std::fill(y, y + rows * cols, 1.0F / static_cast<float>(cols));
}
