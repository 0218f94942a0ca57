// at::native::cuda_utils: reductions of a warp and of a block. Thread 0 has the block's result.
#pragma once

#include "stand_in/torch.hpp"

#ifdef __CUDACC__
namespace at::native::cuda_utils {

constexpr int kCUDABlockReduceNumThreads = 512;
constexpr int kCUDABlockReduceMaxThreads = 32 * 32;

/// The way of counting a block's threads.
struct Block1D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x / 32; }
};
struct Block2D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x + threadIdx.y * blockDim.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x * blockDim.y / 32; }
};

template <class T, class Operation>
__device__ __forceinline__ T WarpReduce(T value, const Operation& operation) {
  for (int step = 16; step > 0; step /= 2)
    value = operation.combine(value, operation.warp_shfl_down(value, step));
  return value;
}

/// `shared` has room for the value of each warp.
template <class T, class Operation, class Block = Block1D>
__device__ __forceinline__ T BlockReduce(T value, const Operation& operation, const T& identity, T* shared) {
  const int lane = Block::Tid() % 32, warp = Block::Tid() / 32;
  value = WarpReduce(value, operation);
  __syncthreads();  // shared may be in use by an earlier reduction
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = Block::Tid() < Block::Warps() ? shared[lane] : identity;
  return warp == 0 ? WarpReduce(value, operation) : value;
}

template <class T>
struct Sum {
  __device__ __forceinline__ T combine(T a, T b) const { return a + b; }
  __device__ __forceinline__ T warp_shfl_down(T value, int step) const {
    return __shfl_down_sync(0xffffffff, value, step);
  }
};
/// Returns NaN if either argument is NaN.
template <class T>
struct Max {
  __device__ __forceinline__ T combine(T a, T b) const { return a != a || a > b ? a : b; }
  __device__ __forceinline__ T warp_shfl_down(T value, int step) const {
    return __shfl_down_sync(0xffffffff, value, step);
  }
};

template <class T>
__device__ __forceinline__ T WarpReduceSum(T value) {
  return WarpReduce(value, Sum<T>());
}
template <class T>
__device__ __forceinline__ T WarpReduceMax(T value) {
  return WarpReduce(value, Max<T>());
}
template <class T, class Block = Block1D>
__device__ __forceinline__ T BlockReduceSum(T value, T* shared) {
  return BlockReduce<T, Sum<T>, Block>(value, Sum<T>(), T(0), shared);
}
/// A thread's own value replaces the identity: the maximum is the same.
template <class T, class Block = Block1D>
__device__ __forceinline__ T BlockReduceMax(T value, T* shared) {
  return BlockReduce<T, Max<T>, Block>(value, Max<T>(), value, shared);
}

}  // namespace at::native::cuda_utils
#endif
