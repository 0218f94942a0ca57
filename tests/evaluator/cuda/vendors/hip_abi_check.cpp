// Compiled by hip_test.cpp against HIP's own header: what the table of AMD's devices holds is what it
// declares.
#define __HIP_PLATFORM_AMD__
#include <cstddef>

#include <hip/hip_runtime_api.h>

#include "device/driver_abi.hpp"
#include "vendors/hip/attributes.hpp"

namespace abi = kernelsmith::cuda::abi;

/// The number of HIP for CUDA's.
constexpr int theirs(int ours) {
  for (const auto& [cuda, hip] : kernelsmith::cuda::kHipAttributes)
    if (cuda == ours) return hip;
  return -1;
}
#define SAME(ours, hip) static_assert(static_cast<long long>(ours) == static_cast<long long>(hip))
#define SAME_PLACE(ours, our_field, hip, their_field) \
  static_assert(offsetof(ours, our_field) == offsetof(hip, their_field))

SAME(theirs(1), hipDeviceAttributeMaxThreadsPerBlock);
SAME(theirs(2), hipDeviceAttributeMaxBlockDimX);
SAME(theirs(3), hipDeviceAttributeMaxBlockDimY);
SAME(theirs(4), hipDeviceAttributeMaxBlockDimZ);
SAME(theirs(5), hipDeviceAttributeMaxGridDimX);
SAME(theirs(6), hipDeviceAttributeMaxGridDimY);
SAME(theirs(7), hipDeviceAttributeMaxGridDimZ);
SAME(theirs(8), hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME(theirs(9), hipDeviceAttributeTotalConstantMemory);
SAME(theirs(10), hipDeviceAttributeWarpSize);
SAME(theirs(12), hipDeviceAttributeMaxRegistersPerBlock);
SAME(theirs(13), hipDeviceAttributeClockRate);
SAME(theirs(16), hipDeviceAttributeMultiprocessorCount);
SAME(theirs(19), hipDeviceAttributeCanMapHostMemory);
SAME(theirs(31), hipDeviceAttributeConcurrentKernels);
SAME(theirs(36), hipDeviceAttributeMemoryClockRate);
SAME(theirs(37), hipDeviceAttributeMemoryBusWidth);
SAME(theirs(38), hipDeviceAttributeL2CacheSize);
SAME(theirs(39), hipDeviceAttributeMaxThreadsPerMultiProcessor);
SAME(theirs(75), hipDeviceAttributeComputeCapabilityMajor);
SAME(theirs(76), hipDeviceAttributeComputeCapabilityMinor);
SAME(theirs(82), hipDeviceAttributeMaxRegistersPerMultiprocessor);
SAME(theirs(95), hipDeviceAttributeCooperativeLaunch);
SAME(theirs(106), hipDeviceAttributeMaxBlocksPerMultiProcessor);

SAME(abi::kInvalidValue, hipErrorInvalidValue);
SAME(abi::kOutOfMemory, hipErrorOutOfMemory);
SAME(abi::kEccUncorrectable, hipErrorECCNotCorrectable);
SAME(abi::kNotReady, hipErrorNotReady);
SAME(abi::kIllegalAddress, hipErrorIllegalAddress);
SAME(abi::kLaunchTimeout, hipErrorLaunchTimeOut);
SAME(abi::kContextIsDestroyed, hipErrorContextIsDestroyed);
SAME(abi::kAssert, hipErrorAssert);
SAME(abi::kLaunchFailed, hipErrorLaunchFailure);
SAME(abi::kCooperativeLaunchTooLarge, hipErrorCooperativeLaunchTooLarge);
SAME(abi::kNotSupported, hipErrorNotSupported);
SAME(abi::kUnknown, hipErrorUnknown);

SAME(abi::kMemoryPinned, hipMemAllocationTypePinned);
SAME(abi::kLocationDevice, hipMemLocationTypeDevice);
SAME(abi::kPosixDescriptor, hipMemHandleTypePosixFileDescriptor);
SAME(abi::kGranularityMinimum, hipMemAllocationGranularityMinimum);
SAME(abi::kReadWrite, hipMemAccessFlagsProtReadWrite);
SAME(abi::kStreamNonBlocking, hipStreamNonBlocking);
SAME(abi::kEventDisableTiming, hipEventDisableTiming);
SAME(abi::kHostPortable, hipHostMallocPortable);
SAME(abi::kHostMapped, hipHostMallocMapped);
SAME(abi::kCaptureRelaxed, hipStreamCaptureModeRelaxed);

SAME_PLACE(abi::AccessDescription, flags, hipMemAccessDesc, flags);
#if HIP_VERSION_MAJOR >= 6
SAME(theirs(102), hipDeviceAttributeVirtualMemoryManagementSupported);
SAME_PLACE(abi::MemoryProperties, handle_types, hipMemAllocationProp, requestedHandleType);
SAME_PLACE(abi::MemoryProperties, location, hipMemAllocationProp, location);
static_assert(sizeof(abi::MemoryProperties) == sizeof(hipMemAllocationProp));
#endif
