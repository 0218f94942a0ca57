// The meaning of a driver's error codes for a candidate.
#pragma once

#include <string>

#include <kernelsmith/evaluator/verdict.hpp>

#include "device/driver.hpp"

namespace kernelsmith::cuda {

/// Whether this code means a lost context: every later call in the process returns the same code.
bool is_sticky(const GpuVendor& vendor, abi::Code code);

/// The kernel's fault in words for the candidate's author, such as "touched memory outside its buffers".
/// Empty if the code does not say.
std::string deed(const GpuVendor& vendor, abi::Code code);

/// Converts a code from during or after the plan's execution: a kernel's fault is a Rejection (crashed),
/// anything else the machine's Error.
Failure device_failure(const Driver& driver, const char* function, abi::Code code);

/// Converts the driver's refusal of a plan before it ran: load_failed or out_of_memory with the driver's
/// words; an Error (busy) if the GPU is full. `what` is the beginning of a sentence: "CUDA refuses the launch
/// of f(int)", with the Driver's api() as the subject.
Failure refused(const Driver& driver, const std::string& what, const char* function, abi::Code code);

}  // namespace kernelsmith::cuda
