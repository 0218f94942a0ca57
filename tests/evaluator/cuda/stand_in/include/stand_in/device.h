// The device's C++ on the processor, for tests: what images.py has rewritten is compiled with this by the host's compiler. A
// grid is carried out block by block, each thread of a block as a fiber that gives way at barriers and exchanges of lanes.
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

// __global__ and __launch_bounds__ are images.py's.
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

namespace stand_in {

/// What a lane of the same wave gives, which is at `from` of it.
template <class T>
T from_lane(T value, unsigned from) {
  T got;
  services.exchange(&value, &got, sizeof value, from);
  return got;
}
inline unsigned lane() { return threadIdx.x % warpSize; }
template <class T>
T shuffled(T value, int from, int width) {
  const auto wide = static_cast<unsigned>(width);
  return from_lane(value, lane() / wide * wide + static_cast<unsigned>(from) % wide);
}
template <class T>
T shuffled_xor(T value, int mask) {
  return from_lane(value, lane() ^ static_cast<unsigned>(mask));
}
template <class T>
T shuffled_down(T value, unsigned by, int width) {
  const bool inside = lane() % static_cast<unsigned>(width) + by < static_cast<unsigned>(width);
  return from_lane(value, inside ? lane() + by : lane());
}

}  // namespace stand_in

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

/// The mangled name of a kernel out of that of its Kernel_, "N8stand_in7Kernel_IXadL_Z<name>EEEE". There, what is referred to
/// again (S_, S0_, S1_ ...) counts from two further on: stand_in and Kernel_ come first.
inline void name_of(const char* type, char* to) {
  const char* at = std::strstr(type, "L_Z") + 3;
  const char* const end = at + std::strlen(at) - 4;
  const auto number = [](const char*& from) {
    std::size_t value = 0;
    while (*from >= '0' && *from <= '9') value = 10 * value + static_cast<std::size_t>(*from++ - '0');
    return value;
  };
  const auto copy = [&](const char* until) {
    while (at < until) *to++ = *at++;
  };
  const char* after = at;
  if (const std::size_t length = number(after); after > at && after + length == end) {
    at = after;  // of C
    copy(end);
  } else {
    *to++ = '_';
    *to++ = 'Z';
  }
  while (at < end) {
    after = at;
    if (*at >= '0' && *at <= '9') {
      const std::size_t length = number(after);
      copy(after + length);
    } else if (*at == 'L') {
      copy(std::strchr(at, 'E'));  // a literal: its digits are no length
    } else if (*at == 'S' && at[2] == '_') {
      const char digit = at[1];  // '1' is the third
      at += 3;
      *to++ = 'S';
      if (digit != '1') *to++ = digit == 'A' ? '8' : digit == 'B' ? '9' : static_cast<char>(digit - 2);
      *to++ = '_';
    } else {
      copy(at + 1);
    }
  }
  *to = '\0';
}

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
    name_of(typeid(Kernel_).name(), name);
    entry = {name, reinterpret_cast<const void*>(Kernel), run, kCount, offsets, sizes, first_kernel};
    return first_kernel = &entry;
  }
  static inline KernelEntry* const added = add();
};

}  // namespace stand_in
