// Headers that every extension gets. Slow ones (<string>, <iostream>, cuda_fp16.h, ...) are included only if
// the source uses a name from them (wanted.hpp): PyTorch's own header includes all of them, which takes
// seconds.
#pragma once

// Written by the planner for each extension: its name, and the headers that it needs.
#if __has_include("kernelsmith_job.hpp")
#include "kernelsmith_job.hpp"
#endif

#ifdef KERNELSMITH_EXTENSION_RUNTIME  // the planner's library, which is built without CUDA
#include "cuda_names.hpp"
#else
#include <cuda_runtime.h>
#endif

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "stand_in/abi.hpp"

#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_RESTRICT __restrict__
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define C10_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_WARP_SIZE 32
#define C10_API
#define C10_EXPORT
#define C10_UNUSED [[maybe_unused]]
#define TORCH_API
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 9
#define KERNELSMITH_ANYWHERE __host__ __device__ __forceinline__
