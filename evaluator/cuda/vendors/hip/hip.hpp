// AMD's GPUs: HIP's runtime, hipcc, code objects. Nothing of it has run on a card: docs/backend-hip.md.
#pragma once

#include <filesystem>
#include <string>

#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

const GpuVendor& hip();

/// "gfx90a" of the device at "0000:65:00.0", as the kernel driver describes it in its folder of nodes. Empty
/// if it does not.
std::string gfx_of(const std::filesystem::path& nodes, const std::string& bus_id);

}  // namespace kernelsmith::cuda
