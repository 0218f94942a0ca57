// gpuAtomicAdd.
#pragma once

#include "stand_in/half.hpp"
#include "stand_in/torch.hpp"

#ifdef __CUDACC__
template <class T>
__device__ __forceinline__ T gpuAtomicAdd(T* address, T value) {
  return atomicAdd(address, value);
}
__device__ __forceinline__ std::int64_t gpuAtomicAdd(std::int64_t* address, std::int64_t value) {
  return static_cast<std::int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
__device__ __forceinline__ c10::Half gpuAtomicAdd(c10::Half* address, c10::Half value) {
  return atomicAdd(reinterpret_cast<__half*>(address), static_cast<__half>(value));
}
__device__ __forceinline__ c10::BFloat16 gpuAtomicAdd(c10::BFloat16* address, c10::BFloat16 value) {
  return atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), static_cast<__nv_bfloat16>(value));
}
template <class T>
__device__ __forceinline__ void gpuAtomicAddNoReturn(T* address, T value) {
  gpuAtomicAdd(address, value);
}
#endif
