// Compiled by runner_abi_test.cpp against the toolkit's own header, if there is one: what driver_abi.hpp
// declares is what cuda.h declares.
#include <cstddef>

#include <cuda.h>

#include "device/driver_abi.hpp"

namespace abi = kernelsmith::cuda::abi;

#define SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define SAME_SIZE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field))

SAME(abi::kSuccess, CUDA_SUCCESS);
SAME(abi::kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(abi::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(abi::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(abi::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(abi::kNotReady, CUDA_ERROR_NOT_READY);
SAME(abi::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(abi::kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(abi::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(abi::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(abi::kAssert, CUDA_ERROR_ASSERT);
SAME(abi::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(abi::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(abi::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(abi::kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(abi::kInvalidPc, CUDA_ERROR_INVALID_PC);
SAME(abi::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(abi::kCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(abi::kExternalDevice, CUDA_ERROR_EXTERNAL_DEVICE);
SAME(abi::kUnknown, CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000
SAME(abi::kContained, CUDA_ERROR_CONTAINED);
SAME(abi::kTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
static_assert(abi::kLastAttribute >= CU_DEVICE_ATTRIBUTE_MAX - 1);
#endif

SAME(abi::kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(abi::kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(abi::kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(abi::kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(abi::kMaxSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(abi::kVirtualMemorySupported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME(abi::kPosixDescriptorSupported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);

SAME(abi::kMemoryPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(abi::kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(abi::kPosixDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(abi::kGranularityMinimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
SAME(abi::kReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(abi::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(abi::kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(abi::kHostPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME(abi::kHostMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(abi::kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(abi::kMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(abi::kSharedCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(abi::kNonPortableCluster, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(abi::kCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(abi::kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(abi::kProgrammaticSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

SAME_SIZE(abi::Code, CUresult);
SAME_SIZE(abi::DeviceNumber, CUdevice);
SAME_SIZE(abi::Address, CUdeviceptr);
SAME_SIZE(abi::MemoryHandle, CUmemGenericAllocationHandle);

SAME_SIZE(abi::MemoryLocation, CUmemLocation);
SAME_PLACE(abi::MemoryLocation, type, CUmemLocation, type);
SAME_PLACE(abi::MemoryLocation, id, CUmemLocation, id);
SAME_SIZE(abi::MemoryProperties, CUmemAllocationProp);
SAME_PLACE(abi::MemoryProperties, type, CUmemAllocationProp, type);
SAME_PLACE(abi::MemoryProperties, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_PLACE(abi::MemoryProperties, location, CUmemAllocationProp, location);
SAME_PLACE(abi::MemoryProperties, win32, CUmemAllocationProp, win32HandleMetaData);
SAME_PLACE(abi::MemoryProperties, flags, CUmemAllocationProp, allocFlags);
SAME_SIZE(abi::AccessDescription, CUmemAccessDesc);
SAME_PLACE(abi::AccessDescription, location, CUmemAccessDesc, location);
SAME_PLACE(abi::AccessDescription, flags, CUmemAccessDesc, flags);

SAME_SIZE(abi::LaunchAttribute, CUlaunchAttribute);
SAME_SIZE(abi::LaunchAttribute::Value, CUlaunchAttributeValue);
SAME_PLACE(abi::LaunchAttribute, id, CUlaunchAttribute, id);
SAME_PLACE(abi::LaunchAttribute, value, CUlaunchAttribute, value);
SAME_PLACE(abi::LaunchAttribute, value.cluster.z, CUlaunchAttribute, value.clusterDim.z);
SAME_SIZE(abi::LaunchConfig, CUlaunchConfig);
SAME_PLACE(abi::LaunchConfig, grid, CUlaunchConfig, gridDimX);
SAME_PLACE(abi::LaunchConfig, block, CUlaunchConfig, blockDimX);
SAME_PLACE(abi::LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(abi::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(abi::LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_PLACE(abi::LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
SAME_SIZE(abi::TensorMap, CUtensorMap);
