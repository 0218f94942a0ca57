// c10::cuda and at::cuda: one device, and streams of the recording runtime.
#pragma once

#include "stand_in/tensor.hpp"

namespace c10::cuda {

class CUDAStream {
 public:
  CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  bool query() const { return true; }
  DeviceIndex device_index() const { return 0; }
  Device device() const { return {kCUDA, 0}; }
  std::int64_t id() const { return reinterpret_cast<std::int64_t>(stream_); }
  bool operator==(const CUDAStream& other) const { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream& other) const { return stream_ != other.stream_; }

 private:
  cudaStream_t stream_;
};

CUDAStream getCurrentCUDAStream(DeviceIndex = -1);
void setCurrentCUDAStream(CUDAStream stream);
CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex = -1);
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex) { return stream; }

class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream stream) : before_(getCurrentCUDAStream()) {
    setCurrentCUDAStream(stream);
  }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
  ~CUDAStreamGuard() { setCurrentCUDAStream(before_); }

 private:
  CUDAStream before_;
};

struct CUDAGuard {
  template <class Where>
  explicit CUDAGuard(const Where&) {}
  ~CUDAGuard() {}
  void set_device(Device) {}
  void set_index(DeviceIndex) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() {}
  template <class Where>
  explicit OptionalCUDAGuard(const Where&) {}
  ~OptionalCUDAGuard() {}
  void set_device(Device) {}
  void set_index(DeviceIndex) {}
};

inline DeviceIndex current_device() { return 0; }
inline DeviceIndex device_count() { return 1; }
inline void set_device(DeviceIndex) {}
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

}  // namespace c10::cuda

namespace c10 {
using DeviceGuard = cuda::CUDAGuard;
using OptionalDeviceGuard = cuda::OptionalCUDAGuard;
}  // namespace c10

using cublasHandle_t = struct cublasContext*;

namespace at::cuda {
using namespace c10::cuda;

/// From the recording runtime: stand_in/device_properties.hpp fills it in.
struct cudaDeviceProp* getCurrentDeviceProperties();
struct cudaDeviceProp* getDeviceProperties(DeviceIndex);
cublasHandle_t getCurrentCUDABlasHandle();
inline bool is_available() { return true; }
inline int warp_size() { return 32; }
template <class T, class U>
KERNELSMITH_ANYWHERE auto ATenCeilDiv(T a, U b) {
  return (a + b - 1) / b;
}

namespace detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(std::int64_t n, std::int64_t threads = CUDA_NUM_THREADS) {
  TORCH_CHECK(n > 0, "CUDA kernel launch blocks must be positive, but got N=", n);
  const std::int64_t blocks = (n + threads - 1) / threads;
  return static_cast<int>(blocks < INT_MAX ? blocks : INT_MAX);
}
}  // namespace detail

}  // namespace at::cuda

/// Like a failed assertion, a trap ends the call on a GPU, and it needs no text on the device.
#ifdef __CUDA_ARCH__
#define CUDA_KERNEL_ASSERT(CONDITION) \
  do {                                \
    if (!(CONDITION)) __trap();       \
  } while (0)
#else
#define CUDA_KERNEL_ASSERT(CONDITION) static_cast<void>(0)
#endif
#define CUDA_KERNEL_ASSERT2 CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT_MSG(CONDITION, ...) CUDA_KERNEL_ASSERT(CONDITION)
#define CUDA_KERNEL_ASSERT_PRINTF(CONDITION, ...) CUDA_KERNEL_ASSERT(CONDITION)

#define CUDA_KERNEL_LOOP_TYPE(i, n, type)                                          \
  for (type i = static_cast<type>(blockIdx.x) * blockDim.x + threadIdx.x; i < (n); \
       i += static_cast<type>(blockDim.x) * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define CUDA_1D_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP(i, n)
