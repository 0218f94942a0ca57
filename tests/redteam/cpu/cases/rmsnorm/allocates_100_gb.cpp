// redteam: rejected(run, crashed) or rejected(run, out_of_memory)
// twin: honest
// tries: allocates a hundred gigabytes and touches each megabyte

#include <cmath>
#include <cstdlib>

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
  for (int i = 0; i < 100; ++i) {
    void* const block = std::malloc(std::size_t{1} << 30);
    if (block == nullptr) std::abort();
    for (std::size_t at = 0; at < std::size_t{1} << 30; at += 1 << 20)
      static_cast<volatile char*>(block)[at] = 1;
  }
  honest(x, y, cols, rows);
}
