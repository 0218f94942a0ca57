// torch._int_mm(a, b).
#include "task.hpp"

extern "C" void gemm_i8(const std::int8_t* __restrict a, const std::int8_t* __restrict b,
                        std::int32_t* __restrict c, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += static_cast<std::int32_t>(a[i * k + p]) * b[p * n + j];
      c[i * n + j] = sum;
    }
}
