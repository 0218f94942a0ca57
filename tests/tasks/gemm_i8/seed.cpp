// Along the rows of b, so that neighbours in memory are neighbours in a vector.
#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr std::int64_t kColumns = 32;  // @tune 16 32 64

}  // namespace

extern "C" void gemm_i8(const std::int8_t* __restrict a, const std::int8_t* __restrict b,
                        std::int32_t* __restrict c, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < m; ++i) {
    std::int64_t j = 0;
    for (; j + kColumns <= n; j += kColumns) {
      std::int32_t sums[kColumns] = {};
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t l = 0; l < kColumns; ++l)
          sums[l] += static_cast<std::int32_t>(a[i * k + p]) * b[p * n + j + l];
      for (std::int64_t l = 0; l < kColumns; ++l) c[i * n + j + l] = sums[l];
    }
    for (; j < n; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += static_cast<std::int32_t>(a[i * k + p]) * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}
// EVOLVE-BLOCK-END
