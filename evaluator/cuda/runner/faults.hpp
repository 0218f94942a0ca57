// What a driver's error codes mean for a candidate.
#pragma once

#include <string>

#include <kernelsmith/evaluator/verdict.hpp>

#include "device/driver.hpp"

namespace kernelsmith::cuda {

/// Whether the context is lost with it: every later call in the process gives the same code.
bool is_sticky(const GpuVendor& vendor, abi::Code code);

/// What the kernel did, in words for the candidate's author: "touched memory outside its buffers". Empty
/// if the code does not say.
std::string deed(const GpuVendor& vendor, abi::Code code);

/// A code that came while or after the plan's work ran on the device: what a kernel did is a Rejection
/// (crashed), anything else the machine's Error.
Failure device_failure(const Driver& driver, const char* function, abi::Code code);

/// A refusal of something that the plan asks for, before anything of it ran: load_failed, or out_of_memory,
/// with the driver's words; if the GPU is full, whoever filled it, an Error (busy). `what` is a sentence's
/// subject and verb: "CUDA refuses the launch of f(int)" (of a Driver whose api() that is).
Failure refused(const Driver& driver, const std::string& what, const char* function, abi::Code code);

}  // namespace kernelsmith::cuda
