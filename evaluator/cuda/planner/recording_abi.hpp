// The part of the vendors' common binary interface that the recording runtime needs: layouts and numbers,
// originally CUDA's (12 and 13, x86-64). Written from documentation, so that building kernelsmith needs no
// vendor's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kernelsmith::cuda::planner {

/// cudaError_t (and CUresult, which has the same numbers if both have the error).
using Code = int;
inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidValue = 1;
inline constexpr Code kMemoryAllocation = 2;
inline constexpr Code kInvalidConfiguration = 9;
inline constexpr Code kInvalidSymbol = 13;
inline constexpr Code kInvalidDeviceFunction = 98;
inline constexpr Code kInvalidDevice = 101;
inline constexpr Code kInvalidResourceHandle = 400;
inline constexpr Code kSymbolNotFound = 500;
inline constexpr Code kNotSupported = 801;

/// Answers a query with `value`.
template <class T>
Code answer(T* place, std::type_identity_t<T> value) {
  *place = value;
  return kSuccess;
}

/// Converts an address or a handle to a pointer, which never points to memory of this process.
inline void* pointer_of(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// dim3. Passed by value in two registers, as CUDA's own is.
struct AbiDim3 {
  unsigned x, y, z;
};

/// cudaLaunchAttributeID: the values that are distinguished.
using LaunchAttributeId = int;
inline constexpr LaunchAttributeId kAttributeAccessPolicyWindow = 1;
inline constexpr LaunchAttributeId kAttributeCooperative = 2;
inline constexpr LaunchAttributeId kAttributeClusterDimension = 4;
inline constexpr LaunchAttributeId kAttributeProgrammaticStreamSerialization = 6;
inline constexpr LaunchAttributeId kAttributeProgrammaticEvent = 7;
inline constexpr LaunchAttributeId kAttributePriority = 8;
inline constexpr LaunchAttributeId kAttributeLaunchCompletionEvent = 12;
inline constexpr LaunchAttributeId kAttributeDeviceUpdatableNode = 13;
inline constexpr LaunchAttributeId kAttributeSharedMemoryCarveout = 14;
inline constexpr LaunchAttributeId kLastKnownAttribute = 16;  ///< of CUDA 13.0

/// cudaLaunchAttribute
struct alignas(8) AbiLaunchAttribute {
  int id;
  int padding;
  union {
    int number;  ///< cooperative, programmaticStreamSerializationAllowed, sharedMemCarveout
    AbiDim3 cluster;
    std::byte all[64];
  } value;
};
static_assert(sizeof(AbiLaunchAttribute) == 72 && offsetof(AbiLaunchAttribute, value) == 8);

/// cudaLaunchConfig_t
struct AbiLaunchConfig {
  AbiDim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
  const AbiLaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(offsetof(AbiLaunchConfig, stream) == 32);

/// cudaFuncAttribute
using FunctionAttribute = int;
inline constexpr FunctionAttribute kFunctionMaxDynamicShared = 8;
inline constexpr FunctionAttribute kFunctionCarveout = 9;
inline constexpr FunctionAttribute kFunctionClusterMustBeSet = 10;
inline constexpr FunctionAttribute kFunctionClusterWidth = 11;  ///< height and depth follow
inline constexpr FunctionAttribute kFunctionNonPortableCluster = 14;
inline constexpr FunctionAttribute kFunctionClusterScheduling = 15;

/// cudaPointerAttributes
struct AbiPointerAttributes {
  int type, device;
  void* device_pointer;
  void* host_pointer;
};
using MemoryType = int;
inline constexpr MemoryType kUnregistered = 0;
inline constexpr MemoryType kHostMemory = 1;
inline constexpr MemoryType kDeviceMemoryType = 2;

/// cudaChannelFormatDesc: the bits of each component, and their kind.
struct AbiChannelDescriptor {
  int x, y, z, w, kind;
};

/// cudaMemcpyKind
using CopyKind = int;
inline constexpr CopyKind kHostToHost = 0;
inline constexpr CopyKind kHostToDevice = 1;
inline constexpr CopyKind kDeviceToHost = 2;
inline constexpr CopyKind kDeviceToDevice = 3;
inline constexpr CopyKind kByAddress = 4;

}  // namespace kernelsmith::cuda::planner
