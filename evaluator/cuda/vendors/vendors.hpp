// All vendors that this program knows.
#pragma once

#include <string_view>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// Finds a vendor by GpuVendor::backend. Null if there is none.
const GpuVendor* vendor_named(std::string_view backend);

}  // namespace kernelsmith::cuda
