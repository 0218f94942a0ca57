// Macros that make a source for float, half, bfloat16 or fp8 compute in double. A pure function.
#pragma once

#include <string>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// Must follow every header that declares the types. From here on each real type is double, their vectors
/// (float4, __half2) are vectors of double, and their conversions and functions use double.
std::string wide_reals(const Dialect& dialect);

}  // namespace kernelsmith::cuda
