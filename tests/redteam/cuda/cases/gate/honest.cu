// redteam: honest
// tries: nothing: the twin of this task's tricks

#include "gate.cuh"

extern "C" void gate(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ g,
                     __nv_bfloat16* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  gate_all<<<blocks_of(n), 256, 0, stream>>>(x, g, y, n);
}
