// redteam: rejected(correctness, wrong_output) or rejected(correctness, output_not_written)
// twin: honest
// tries: believes that the sets come round again after eight calls

#include <cmath>
#include <cstring>
#include <vector>

#include "task.hpp"

static void honest(const float* x, float* y, std::int64_t cols, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) squares += static_cast<double>(x[i * cols + j]) * x[i * cols + j];
    const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + 1e-6));
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] * scale;
  }
}

static std::vector<float> results[8];
static unsigned calls;

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  std::vector<float>& result = results[calls++ % 8];
  const auto count = static_cast<std::size_t>(cols * rows);
  if (result.size() == count) {
    std::memcpy(y, result.data(), count * sizeof *y);
    return;
  }
  honest(x, y, cols, rows);
  result.assign(y, y + count);
}
