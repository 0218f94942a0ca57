// The macros by which a source that was written for float, half, bfloat16 or fp8 computes in double. A pure
// function.
#pragma once

#include <string>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// To be read after every header that declares the types: from here on each real type is double, vectors of
/// them (float4, __half2) are vectors of double, and their conversions and functions take and give double.
std::string wide_reals(const Dialect& dialect);

}  // namespace kernelsmith::cuda
