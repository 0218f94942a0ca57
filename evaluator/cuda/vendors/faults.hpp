// The meaning of the drivers' codes for a kernel. The numbers are CUDA's.
#pragma once

#include <span>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

inline constexpr FaultCode kFaults[] = {
    {abi::kEccUncorrectable},
    {abi::kIllegalAddress, true, "a kernel touched memory outside its buffers"},
    {abi::kLaunchTimeout, true, "a kernel ran longer than the driver allows"},
    {abi::kContextIsDestroyed},
    {abi::kAssert, true, "a device-side assert failed"},
    {abi::kHardwareStackError, true, "a kernel overflowed or corrupted its call stack"},
    {abi::kIllegalInstruction, true, "a kernel ran an illegal instruction (or a trap)"},
    {abi::kMisalignedAddress, true,
     "a kernel accessed memory at an address that is not aligned for the size of the access"},
    {abi::kInvalidPc, true, "a kernel jumped to an address that holds no code"},
    {abi::kLaunchFailed, true,
     "a kernel failed on the device (often: shared memory out of bounds, a bad barrier or bulk copy)"},
    // The codes that only CUDA has.
    {abi::kNvlinkUncorrectable},
    {abi::kContained},
    {abi::kInvalidAddressSpace, true,
     "a kernel used an address of the wrong memory space (global, shared or local)"},
    {abi::kTensorMemoryLeak, true, "a kernel ended without freeing its tensor memory"},
    {abi::kExternalDevice},
};

/// The codes that every vendor lists.
inline constexpr std::span kRuntimeFaults = std::span(kFaults).first(10);

}  // namespace kernelsmith::cuda
