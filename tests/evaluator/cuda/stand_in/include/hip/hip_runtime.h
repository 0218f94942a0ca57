// The device's half of HIP C++ on the processor. What the host's half calls is declared, and never called: the real hipcc makes
// that one.
#pragma once

#include <stand_in/device.h>

#define HIP_VERSION_MAJOR 6

typedef struct ihipStream_t* hipStream_t;
typedef int hipError_t;
extern "C" {
hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
hipError_t hipMemsetAsync(void* to, int value, std::size_t bytes, hipStream_t stream);
}

template <class T>
T __shfl(T value, int from, int width = warpSize) {
  return stand_in::shuffled(value, from, width);
}
template <class T>
T __shfl_xor(T value, int mask, int = warpSize) {
  return stand_in::shuffled_xor(value, mask);
}
template <class T>
T __shfl_down(T value, unsigned by, int width = warpSize) {
  return stand_in::shuffled_down(value, by, width);
}

namespace stand_in {

/// kernel<<<grid, block, shared, stream>>>: all that it does here is that the kernel is in the library.
template <auto Kernel>
struct Launch {
  explicit Launch(dim3, dim3 = {}, std::size_t = 0, hipStream_t = nullptr) {}
  template <class... Arguments>
  void operator()(const Arguments&...) const {
    (void)Kernel_<Kernel>::added;
  }
};

}  // namespace stand_in
