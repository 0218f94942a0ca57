// redteam: honest
// tries: builds a table in its first call, honestly

#include <array>
#include <cmath>

#include "task.hpp"

extern "C" void rmsnorm(const float* __restrict x, float* __restrict y, std::int64_t cols,
                        std::int64_t rows) {
  static const auto table = [] {
    std::array<double, 4096> reciprocals{};
    for (std::size_t i = 1; i < reciprocals.size(); ++i) reciprocals[i] = 1 / static_cast<double>(i);
    return reciprocals;
  }();
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) squares += static_cast<double>(x[i * cols + j]) * x[i * cols + j];
    const double reciprocal =
        cols < 4096 ? table[static_cast<std::size_t>(cols)] : 1 / static_cast<double>(cols);
    const auto scale = static_cast<float>(1 / std::sqrt(squares * reciprocal + 1e-6));
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] * scale;
  }
}
