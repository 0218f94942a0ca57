// torch.sparse_csr_tensor(start, column, value) @ x.
#include "task.hpp"

extern "C" void spmv_csr(const std::int32_t* __restrict start, const std::int32_t* __restrict column,
                         const float* __restrict value, const float* __restrict x, float* __restrict y,
                         std::int64_t rows, std::int64_t, std::int64_t) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float sum = 0.0f;
    for (std::int32_t p = start[i]; p < start[i + 1]; ++p) sum += value[p] * x[column[p]];
    y[i] = sum;
  }
}
