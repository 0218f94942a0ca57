// What operators in CUDA C++ need to be MACA C++: the names of CUDA's runtime, and warps of 32 lanes, two in a wave of 64.
// References include it last, behind task.cuh. Candidates are written in MACA C++ and leave it out.
#pragma once

#include <maca_bfloat16.h>
#include <maca_fp16.h>
#include <mcr/mc_runtime.h>

using cudaStream_t = mcStream_t;
using cudaError_t = mcError_t;
#define cudaSuccess mcSuccess
#define cudaMallocAsync mcMallocAsync
#define cudaFreeAsync mcFreeAsync
#define cudaMemsetAsync mcMemsetAsync
#define cudaMemcpyAsync mcMemcpyAsync
#define cudaMemcpyDeviceToDevice mcMemcpyDeviceToDevice
#define cudaGetLastError mcGetLastError
// A block has its 64 KiB of shared memory without asking.
#define cudaFuncSetAttribute(kernel, attribute, value) mcSuccess

#ifndef __nv_bfloat16
#define __nv_bfloat16 maca_bfloat16
#endif

namespace cuda_names {

constexpr unsigned long kWave = 0xffffffffffffffffUL;
constexpr int kWarp = 32;

/// Where the warp of this thread begins in its wave: 0 or 32.
__device__ inline unsigned first_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 32U;
}

template <class T>
__device__ T shfl(unsigned, T value, int from, int width = kWarp) {
  return __shfl_sync(kWave, value, from, width);
}
template <class T>
__device__ T shfl_xor(unsigned, T value, int mask, int width = kWarp) {
  return __shfl_xor_sync(kWave, value, mask, width);
}
template <class T>
__device__ T shfl_down(unsigned, T value, unsigned lanes, int width = kWarp) {
  return __shfl_down_sync(kWave, value, lanes, width);
}
template <class T>
__device__ T shfl_up(unsigned, T value, unsigned lanes, int width = kWarp) {
  return __shfl_up_sync(kWave, value, lanes, width);
}

}  // namespace cuda_names

#define __shfl_sync cuda_names::shfl
#define __shfl_xor_sync cuda_names::shfl_xor
#define __shfl_down_sync cuda_names::shfl_down
#define __shfl_up_sync cuda_names::shfl_up
#define __ballot_sync(mask, predicate) \
  (static_cast<unsigned>(__ballot_sync(cuda_names::kWave, predicate) >> cuda_names::first_lane()) & (mask))
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0U)
#define __all_sync(mask, predicate) (__ballot_sync(mask, !(predicate)) == 0U)
#define __activemask() __ballot_sync(0xffffffffU, true)
#define __syncwarp(...) __syncwarp()
#define warpSize 32
