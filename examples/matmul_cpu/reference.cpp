// Defines what is correct: the textbook order i j k. The sum is kept in double, so the reference
// adds no error of its own to the error that a kernel may have.
#include "task.hpp"

extern "C" void matmul(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                       std::int64_t k) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += static_cast<double>(a[i * k + p]) * b[p * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
}
