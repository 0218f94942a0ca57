// Defines 1.0x: the loop order i k j. The inner loop runs along rows of B and C, so the compiler vectorises
// it.
#include "task.hpp"

extern "C" void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c,
                       std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < m * n; ++i) c[i] = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
}
