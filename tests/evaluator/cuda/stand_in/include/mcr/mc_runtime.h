// MACA C++ on the processor: the device's half, and the host's, which registers its kernels as mxcc makes it.
#pragma once

#include <mcr/mc_runtime_api.h>
#include <stand_in/device.h>

inline void __syncwarp(unsigned long = 0) { stand_in::services.wait_wave(); }
template <class T>
T __shfl_sync(unsigned long, T value, int from, int width = warpSize) {
  return stand_in::shuffled(value, from, width);
}
template <class T>
T __shfl_xor_sync(unsigned long, T value, int mask, int = warpSize) {
  return stand_in::shuffled_xor(value, mask);
}
template <class T>
T __shfl_down_sync(unsigned long, T value, unsigned by, int width = warpSize) {
  return stand_in::shuffled_down(value, by, width);
}

extern "C" {
void** __mcRegisterFatBinary(const void* image);
void __mcRegisterFunction(void** handle, const void* host, char* name, const char* device_name, unsigned threads, void*,
                          void*, void*, void*, int*);
mcError_t mcLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                         mcStream_t stream);
}

namespace stand_in {

/// When the first launch comes: kernels are added in no certain order while the library is loaded.
inline bool register_kernels() {
  void** const handle = __mcRegisterFatBinary(nullptr);
  for (const KernelEntry* at = first_kernel; at != nullptr; at = at->next)
    __mcRegisterFunction(handle, at->host, nullptr, at->name, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  return true;
}

/// kernel<<<grid, block, shared, stream>>>
template <auto Kernel>
struct Launch {
  Launch(dim3 grid_, dim3 block_, std::size_t shared_ = 0, mcStream_t stream_ = nullptr)
      : grid(grid_), block(block_), shared(shared_), stream(stream_) {}
  dim3 grid, block;
  std::size_t shared;
  mcStream_t stream;
  template <class... Arguments>
  void operator()(const Arguments&... arguments) const {
    (void)Kernel_<Kernel>::added;
    call(Kernel, arguments...);
  }
  template <class... Parameters, class... Arguments>
  void call(void (*)(Parameters...), const Arguments&... arguments) const {
    static const bool registered = register_kernels();
    (void)registered;
    std::tuple<std::remove_cv_t<Parameters>...> values(static_cast<Parameters>(arguments)...);
    std::apply(
        [&](auto&... each) {
          void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(&each))..., nullptr};
          mcLaunchKernel(reinterpret_cast<const void*>(Kernel), grid, block, pointers, shared, stream);
        },
        values);
  }
};

}  // namespace stand_in
