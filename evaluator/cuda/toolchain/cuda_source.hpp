// Generates C++ from a task's tensors, in a vendor's dialect. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/entry_parameters.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// The C++ type of a tensor's elements: the dialect's name of a half or fp8 type, cpp_type() for other types.
std::string_view device_type(Dtype dtype, const Dialect& dialect);

/// Bytes of an element in a source that is built in that precision (there is no long double on a GPU).
std::size_t element_bytes(Dtype dtype, OraclePrecision precision);

/// The header task.cuh: `extern "C" void ENTRY(const float* x, float* y, std::int64_t rows, cudaStream_t
/// stream);` and the includes that its types need. In precision f64 it also makes float, __half and the other
/// real types mean double, and their conversion and f-suffixed functions work on double. These macros come
/// after the standard and device headers that `user` includes.
std::string task_header(const Task& task, const Dialect& dialect, OraclePrecision precision,
                        const Source& user = {});

/// The translation unit (C++ with the toolkit's headers) that defines planner::kShimSymbol, and the runtime
/// functions that depend on a toolkit's struct layouts (Dialect::device_properties). It refers to the entry
/// only by its C linkage, so that one shim works for every precision.
std::string shim_source(const Task& task, const GpuVendor& vendor);

}  // namespace kernelsmith::cuda
