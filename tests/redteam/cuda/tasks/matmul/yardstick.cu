#include "matmul.cuh"

extern "C" void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                       std::int64_t m, std::int64_t n, std::int64_t k, cudaStream_t stream) {
  multiply(a, b, c, m, n, k, k, stream);
}
