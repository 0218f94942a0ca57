// The part of the CUDA driver's binary interface that kernelsmith uses, so that no toolkit is needed to build
// it. Layouts and numbers are those of cuda.h (tests/evaluator/cuda/abi_check.cpp compares them).
#pragma once

#include <cstdint>

namespace kernelsmith::cuda::abi {

using Code = int;  ///< CUresult
using DeviceNumber = int;
using Address = unsigned long long;       ///< CUdeviceptr
using MemoryHandle = unsigned long long;  ///< CUmemGenericAllocationHandle
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using GraphExec = struct GraphExecObject*;

// CUresult: the values that are distinguished.
inline constexpr Code kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kEccUncorrectable = 214,
                      kNvlinkUncorrectable = 220, kContained = 226, kNotReady = 600, kIllegalAddress = 700,
                      kLaunchOutOfResources = 701, kLaunchTimeout = 702, kContextIsDestroyed = 709,
                      kAssert = 710, kHardwareStackError = 714, kIllegalInstruction = 715,
                      kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                      kLaunchFailed = 719, kCooperativeLaunchTooLarge = 720, kTensorMemoryLeak = 721,
                      kNotSupported = 801, kExternalDevice = 911, kUnknown = 999;

// CUdevice_attribute: the values that are used by name.
inline constexpr int kMultiprocessorCount = 16, kL2CacheSize = 38, kComputeMajor = 75, kComputeMinor = 76,
                     kMaxSharedPerBlockOptin = 97, kVirtualMemorySupported = 102,
                     kPosixDescriptorSupported = 103;
inline constexpr int kLastAttribute = 150;  ///< CUDA 13.0 ends at 147; numbers beyond are refused

inline constexpr int kMemoryPinned = 1;             ///< CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kLocationDevice = 1;           ///< CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int kPosixDescriptor = 1;          ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
inline constexpr int kGranularityMinimum = 0;       ///< CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr int kReadWrite = 3;                ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr unsigned kStreamNonBlocking = 1;   ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDisableTiming = 2;  ///< CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kHostPortable = 1;        ///< CU_MEMHOSTALLOC_PORTABLE
inline constexpr unsigned kHostMapped = 2;          ///< CU_MEMHOSTALLOC_DEVICEMAP
inline constexpr int kCaptureRelaxed = 2;           ///< CU_STREAM_CAPTURE_MODE_RELAXED

// CUfunction_attribute
inline constexpr int kMaxDynamicShared = 8, kSharedCarveout = 9, kNonPortableCluster = 14;
// CUlaunchAttributeID
inline constexpr int kCooperative = 2, kClusterDimension = 4, kProgrammaticSerialization = 6;

struct MemoryLocation {
  int type = kLocationDevice;
  int id = 0;
};

struct MemoryProperties {
  int type = kMemoryPinned;
  int handle_types = 0;
  MemoryLocation location;
  void* win32 = nullptr;
  struct Flags {
    unsigned char compression = 0, rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};

struct AccessDescription {
  MemoryLocation location;
  int flags = kReadWrite;
};

struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  union Value {
    char bytes[64] = {};
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic;
    void* alignment;
  } value;
};

struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct alignas(128) TensorMap {
  std::uint64_t opaque[16] = {};
};

}  // namespace kernelsmith::cuda::abi
