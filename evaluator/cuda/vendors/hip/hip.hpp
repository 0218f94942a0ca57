// AMD's GPUs: HIP's runtime, hipcc, code objects. This code has never run on a real GPU: docs/backend-hip.md.
#pragma once

#include <filesystem>
#include <string>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

const GpuVendor& hip();

/// The architecture, such as "gfx90a", of the device at "0000:65:00.0", from the kernel driver's folder of
/// nodes. Empty if the device is not there.
std::string gfx_of(const std::filesystem::path& nodes, const std::string& bus_id);

}  // namespace kernelsmith::cuda
