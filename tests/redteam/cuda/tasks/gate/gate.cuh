// An honest gate: y = x / (1 + exp(-g)), computed in single precision, a thread for each element.
#pragma once

#include "task.cuh"

__device__ inline float gated(float x, float g) { return x / (1 + expf(-g)); }

static __global__ void gate_all(const __nv_bfloat16* x, const __nv_bfloat16* g, __nv_bfloat16* y, std::int64_t n) {
  const std::int64_t i = blockIdx.x * std::int64_t{256} + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(gated(__bfloat162float(x[i]), __bfloat162float(g[i])));
}

inline unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + 255) / 256); }
