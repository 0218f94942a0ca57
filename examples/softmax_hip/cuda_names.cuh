// What operators in CUDA C++ need to be HIP C++: the names of CUDA's runtime, and warps of 32 lanes, two in a wave of 64 or one
// in a wave of 32. References include it last, behind task.cuh. Candidates are written in HIP C++ and leave it out.
#pragma once

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

using cudaStream_t = hipStream_t;
using cudaError_t = hipError_t;
#define cudaSuccess hipSuccess
#define cudaMallocAsync hipMallocAsync
#define cudaFreeAsync hipFreeAsync
#define cudaMemsetAsync hipMemsetAsync
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaGetLastError hipGetLastError
// A block has its 64 KiB of shared memory without asking.
#define cudaFuncSetAttribute(kernel, attribute, value) hipSuccess

#ifndef __nv_bfloat16
#define __nv_bfloat16 hip_bfloat16
#endif
#ifndef __float2bfloat16
#define __float2bfloat16(x) hip_bfloat16(x)
#endif
#ifndef __bfloat162float
#define __bfloat162float(x) static_cast<float>(x)
#endif

namespace cuda_names {

constexpr int kWarp = 32;

/// Where the warp of this thread begins in its wave: 0 or 32.
__device__ inline unsigned first_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & (warpSize - 1U) & 32U;
}

template <class T>
__device__ T shfl(unsigned, T value, int from, int width = kWarp) {
  return __shfl(value, from, width);
}
template <class T>
__device__ T shfl_xor(unsigned, T value, int mask, int width = kWarp) {
  return __shfl_xor(value, mask, width);
}
template <class T>
__device__ T shfl_down(unsigned, T value, unsigned lanes, int width = kWarp) {
  return __shfl_down(value, lanes, width);
}
template <class T>
__device__ T shfl_up(unsigned, T value, unsigned lanes, int width = kWarp) {
  return __shfl_up(value, lanes, width);
}

}  // namespace cuda_names

#define __shfl_sync cuda_names::shfl
#define __shfl_xor_sync cuda_names::shfl_xor
#define __shfl_down_sync cuda_names::shfl_down
#define __shfl_up_sync cuda_names::shfl_up
#define __ballot_sync(mask, predicate) \
  (static_cast<unsigned>(__ballot(predicate) >> cuda_names::first_lane()) & (mask))
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0U)
#define __all_sync(mask, predicate) (__ballot_sync(mask, !(predicate)) == 0U)
#define __activemask() __ballot_sync(0xffffffffU, true)
#define __syncwarp(...) (__threadfence_block(), __builtin_amdgcn_wave_barrier())
#define warpSize 32
