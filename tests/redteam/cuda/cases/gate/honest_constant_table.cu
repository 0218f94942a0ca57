// redteam: honest
// tries: nothing; a constant of the kernel is copied to __constant__ memory in each call

#include "gate.cuh"

__constant__ float table[2];
__global__ void by_table(const __nv_bfloat16* x, const __nv_bfloat16* g, __nv_bfloat16* y, std::int64_t n) {
  const std::int64_t i = blockIdx.x * std::int64_t{256} + threadIdx.x;
  if (i < n)
    y[i] = __float2bfloat16(__bfloat162float(x[i]) / (table[0] + expf(table[1] * __bfloat162float(g[i]))));
}

extern "C" void gate(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ g,
                     __nv_bfloat16* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  const float values[2] = {1, -1};
  cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, stream);
  by_table<<<blocks_of(n), 256, 0, stream>>>(x, g, y, n);
}
