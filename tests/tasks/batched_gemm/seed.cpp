// A tile of sums stays in registers; b is read along its rows.
#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr std::int64_t kRows = 4;      // @tune 1 2 4
constexpr std::int64_t kColumns = 16;  // @tune 8 16

// A tile of c at its upper left corner; n and k are the strides of b and c, and of a.
void tile(const float* __restrict a, const float* __restrict b, float* __restrict c, std::int64_t n,
          std::int64_t k) {
  float sums[kRows][kColumns] = {};
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t l = 0; l < kColumns; ++l) sums[r][l] += a[r * k + p] * b[p * n + l];
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t l = 0; l < kColumns; ++l) c[r * n + l] = sums[r][l];
}

void element(const float* a, const float* b, float* c, std::int64_t n, std::int64_t k) {
  float sum = 0.0f;
  for (std::int64_t p = 0; p < k; ++p) sum += a[p] * b[p * n];
  *c = sum;
}

}  // namespace

extern "C" void batched_gemm(const float* __restrict a, const float* __restrict b, float* __restrict c,
                             std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t g = 0; g < batch; ++g, a += m * k, b += k * n, c += m * n) {
    const std::int64_t rows = m / kRows * kRows, columns = n / kColumns * kColumns;
    for (std::int64_t i = 0; i < rows; i += kRows)
      for (std::int64_t j = 0; j < columns; j += kColumns) tile(a + i * k, b + j, c + i * n + j, n, k);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = i < rows ? columns : 0; j < n; ++j)
        element(a + i * k, b + j, c + i * n + j, n, k);
  }
}
// EVOLVE-BLOCK-END
