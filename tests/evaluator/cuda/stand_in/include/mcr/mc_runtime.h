// MACA C++ on the processor, for tests: what mxcc.py has rewritten is compiled with this by the host's compiler. A grid is
// carried out block by block, each thread of a block as a fiber that gives way at barriers and exchanges of lanes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <mcr/mc_runtime_api.h>

// __global__ and __launch_bounds__ are mxcc.py's.
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __noinline__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace stand_in {

/// What a thread sees of where it is; the fibers' scheduler sets it.
struct Place {
  dim3 grid, block, at, thread;
  void* dynamic_shared = nullptr;
  unsigned lane_word = 0;
};

/// Given by the stand-in of the driver, which holds the fibers.
struct Services {
  void (*wait_block)() = nullptr;
  void (*wait_wave)() = nullptr;
  /// What lane `from` of the wave gave in this exchange.
  void (*exchange)(const void* mine, void* theirs, unsigned bytes, unsigned from) = nullptr;
  Place* place = nullptr;
};
inline Services services;

}  // namespace stand_in

#define threadIdx (::stand_in::services.place->thread)
#define blockIdx (::stand_in::services.place->at)
#define blockDim (::stand_in::services.place->block)
#define gridDim (::stand_in::services.place->grid)
constexpr int warpSize = 64;

inline void __syncthreads() { stand_in::services.wait_block(); }
inline void __syncwarp(unsigned long = 0) { stand_in::services.wait_wave(); }

template <class T>
T __shfl_sync(unsigned long, T value, int from, int width = warpSize) {
  T got;
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned base = lane / static_cast<unsigned>(width) * static_cast<unsigned>(width);
  stand_in::services.exchange(&value, &got, sizeof value, base + static_cast<unsigned>(from) % width);
  return got;
}
template <class T>
T __shfl_xor_sync(unsigned long, T value, int mask, int = warpSize) {
  T got;
  stand_in::services.exchange(&value, &got, sizeof value, (threadIdx.x % warpSize) ^ static_cast<unsigned>(mask));
  return got;
}
template <class T>
T __shfl_down_sync(unsigned long, T value, unsigned by, int width = warpSize) {
  T got;
  const unsigned lane = threadIdx.x % warpSize;
  const bool inside = lane % static_cast<unsigned>(width) + by < static_cast<unsigned>(width);
  stand_in::services.exchange(&value, &got, sizeof value, inside ? lane + by : lane);
  return got;
}

// One thread of the host carries out all fibers.
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  const T before = *at;
  if (value > before) *at = value;
  return before;
}
inline long long __double_as_longlong(double value) {
  long long bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline unsigned long long wall_clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 100000000ULL + static_cast<unsigned long long>(now.tv_nsec) / 10;
}
// Functions of the device that the host's library lacks.
inline double rcbrt(double x) { return 1 / std::cbrt(x); }
inline double sinpi(double x) { return std::sin(M_PI * x); }
inline double cospi(double x) { return std::cos(M_PI * x); }
inline double erfcx(double x) { return std::exp(x * x) * std::erfc(x); }
inline double normcdf(double x) { return std::erfc(-x / M_SQRT2) / 2; }
inline double erfinv(double x) {
  double y = 0;
  for (int i = 0; i < 60; ++i) y -= (std::erf(y) - x) / (M_2_SQRTPI * std::exp(-y * y));
  return y;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __fdividef(float a, float b) { return a / b; }
using std::isfinite;
using std::isnan;

namespace stand_in {

/// How a kernel is known to the image's note, and how one thread of it is started.
struct KernelEntry {
  const char* name;
  const void* host;
  void (*run)(void** arguments);
  unsigned count;
  const unsigned *offsets, *sizes;
  KernelEntry* next;
};
inline KernelEntry* first_kernel = nullptr;

template <auto Kernel>
struct Kernel_;

template <class... Parameters, void (*Kernel)(Parameters...)>
struct Kernel_<Kernel> {
  static constexpr unsigned kCount = sizeof...(Parameters);
  template <std::size_t... Index>
  static void start(void** arguments, std::index_sequence<Index...>) {
    Kernel(*static_cast<std::remove_reference_t<Parameters>*>(arguments[Index])...);
  }
  static void run(void** arguments) { start(arguments, std::index_sequence_for<Parameters...>()); }

  static inline unsigned offsets[kCount + 1], sizes[kCount + 1];
  static inline char name[1024];
  static inline KernelEntry entry;
  static KernelEntry* add() {
    unsigned at = 0, i = 0;
    ((at = (at + unsigned{alignof(Parameters)} - 1) / unsigned{alignof(Parameters)} * unsigned{alignof(Parameters)},
      offsets[i] = at, sizes[i++] = sizeof(Parameters), at += unsigned{sizeof(Parameters)}),
     ...);
    // "...XadL_Z<name>EEEE" of this type: the kernel's own mangled name.
    const char* const type = typeid(Kernel_).name();
    const char* const begin = std::strstr(type, "L_Z");
    const std::size_t length = std::strlen(begin) - 3 - 4;
    std::size_t digits = 0, number = 0;
    while (begin[3 + digits] >= '0' && begin[3 + digits] <= '9') number = number * 10 + (begin[3 + digits++] - '0');
    if (digits > 0 && digits + number == length)
      std::strncpy(name, begin + 3 + digits, number);  // of C
    else
      std::strncpy(std::strcpy(name, "_Z") + 2, begin + 3, length);
    entry = {name, reinterpret_cast<const void*>(Kernel), run, kCount, offsets, sizes, first_kernel};
    return first_kernel = &entry;
  }
  static inline KernelEntry* const added = add();
};

}  // namespace stand_in

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
