// Several sums a row, so that no product waits for the one before.
#include "task.hpp"

// EVOLVE-BLOCK-START
namespace {

constexpr std::int32_t kSums = 4;  // @tune 1 2 4 8

}  // namespace

extern "C" void spmv_csr(const std::int32_t* __restrict start, const std::int32_t* __restrict column,
                         const float* __restrict value, const float* __restrict x, float* __restrict y,
                         std::int64_t rows, std::int64_t, std::int64_t) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int32_t end = start[i + 1];
    std::int32_t p = start[i];
    float sums[kSums] = {};
    for (; p + kSums <= end; p += kSums)
      for (std::int32_t s = 0; s < kSums; ++s) sums[s] += value[p + s] * x[column[p + s]];
    for (; p < end; ++p) sums[0] += value[p] * x[column[p]];
    float sum = 0.0f;
    for (const float part : sums) sum += part;
    y[i] = sum;
  }
}
// EVOLVE-BLOCK-END
