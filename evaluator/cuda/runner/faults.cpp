#include "runner/faults.hpp"

namespace kernelsmith::cuda {

bool is_sticky(abi::Code code) {
  switch (code) {
    case abi::kEccUncorrectable:
    case abi::kNvlinkUncorrectable:
    case abi::kContained:
    case abi::kIllegalAddress:
    case abi::kLaunchTimeout:
    case abi::kContextIsDestroyed:
    case abi::kAssert:
    case abi::kHardwareStackError:
    case abi::kIllegalInstruction:
    case abi::kMisalignedAddress:
    case abi::kInvalidAddressSpace:
    case abi::kInvalidPc:
    case abi::kLaunchFailed:
    case abi::kTensorMemoryLeak:
    case abi::kExternalDevice:
      return true;
    default:
      return false;
  }
}

std::string deed(abi::Code code) {
  switch (code) {
    case abi::kIllegalAddress:
      return "a kernel touched memory outside its buffers";
    case abi::kLaunchTimeout:
      return "a kernel ran longer than the driver allows";
    case abi::kAssert:
      return "a device-side assert failed";
    case abi::kHardwareStackError:
      return "a kernel overflowed or corrupted its call stack";
    case abi::kIllegalInstruction:
      return "a kernel ran an illegal instruction (or a trap)";
    case abi::kMisalignedAddress:
      return "a kernel accessed memory at an address that is not aligned for the size of the access";
    case abi::kInvalidAddressSpace:
      return "a kernel used an address of the wrong memory space (global, shared or local)";
    case abi::kInvalidPc:
      return "a kernel jumped to an address that holds no code";
    case abi::kLaunchFailed:
      return "a kernel failed on the device (often: shared memory out of bounds, a bad barrier or bulk copy)";
    case abi::kTensorMemoryLeak:
      return "a kernel ended without freeing its tensor memory";
    default:
      return {};
  }
}

Failure device_failure(const Driver& driver, const char* function, abi::Code code) {
  const std::string what = deed(code);
  if (what.empty()) return driver.error(function, code);
  return reject(Stage::run, RejectionCode::crashed, what + ": " + driver.words(code));
}

Failure refused(const Driver& driver, const std::string& what, const char* function, abi::Code code) {
  if (is_sticky(code)) return device_failure(driver, function, code);
  if (code == abi::kOutOfMemory && driver.is_full()) return driver.error(function, code);
  return reject(Stage::run,
                code == abi::kOutOfMemory ? RejectionCode::out_of_memory : RejectionCode::load_failed,
                what + ": " + function + ": " + driver.words(code));
}

}  // namespace kernelsmith::cuda
