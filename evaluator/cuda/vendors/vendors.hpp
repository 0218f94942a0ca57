// All vendors that this program knows.
#pragma once

#include <string_view>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// By GpuVendor::backend. Null if there is none of that name.
const GpuVendor* vendor_named(std::string_view backend);

}  // namespace kernelsmith::cuda
