// redteam: honest
// tries: sums each element in double precision

#include "task.hpp"

extern "C" void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c,
                       std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(a[i * n + k]) * b[k * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
}
