#include "runner/faults.hpp"

#include <algorithm>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {
namespace {

const FaultCode* fault_of(const GpuVendor& vendor, abi::Code code) {
  const auto found = std::ranges::find(vendor.driver.faults, code, &FaultCode::code);
  return found != vendor.driver.faults.end() ? &*found : nullptr;
}

}  // namespace

bool is_sticky(const GpuVendor& vendor, abi::Code code) {
  const FaultCode* const fault = fault_of(vendor, code);
  return fault != nullptr && fault->sticky;
}

std::string deed(const GpuVendor& vendor, abi::Code code) {
  const FaultCode* const fault = fault_of(vendor, code);
  return fault != nullptr ? fault->deed : "";
}

Failure device_failure(const Driver& driver, const char* function, abi::Code code) {
  const std::string what = deed(driver.vendor(), code);
  if (what.empty()) return driver.error(function, code);
  return reject(Stage::run, RejectionCode::crashed, what + ": " + driver.words(code));
}

Failure refused(const Driver& driver, const std::string& what, const char* function, abi::Code code) {
  if (is_sticky(driver.vendor(), code)) return device_failure(driver, function, code);
  if (code == abi::kOutOfMemory && driver.is_full()) return driver.error(function, code);
  return reject(Stage::run,
                code == abi::kOutOfMemory ? RejectionCode::out_of_memory : RejectionCode::load_failed,
                what + ": " + function + ": " + driver.words(code));
}

}  // namespace kernelsmith::cuda
