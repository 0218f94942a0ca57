// torch.bmm(a, b).
#include "task.hpp"

extern "C" void batched_gemm(const float* __restrict a, const float* __restrict b, float* __restrict c,
                             std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t g = 0; g < batch; ++g)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0.0f;
        for (std::int64_t p = 0; p < k; ++p) sum += a[(g * m + i) * k + p] * b[(g * k + p) * n + j];
        c[(g * m + i) * n + j] = sum;
      }
}
