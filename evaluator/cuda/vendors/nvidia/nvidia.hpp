// NVIDIA's GPUs: CUDA's driver, nvcc, cubins.
#pragma once

#include <filesystem>

#include <kernelsmith/core/result.hpp>

#include "planner/planner.hpp"
#include "toolchain/toolkit.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

const GpuVendor& nvidia();

/// For compute capability 7.0 and later.
inline constexpr OccupancyRules kOccupancy{.register_granule = 256, .shared_granule = 128, .partitions = 4};

/// What is planned for without a device: an H100 SXM5 with 80 GB.
DeviceFacts h100();

/// Looks at `given` (a toolkit's folder), else at $CUDA_HOME, and if neither is set at nvcc on the PATH
/// and /usr/local/cuda. Runs nvcc once, unsandboxed: it is the system's own. Errors: tool_missing, with how
/// to get it.
Result<Toolkit> find_toolkit(const std::filesystem::path& given = {});

/// cudaGetDeviceProperties, as the shim defines it.
extern const char* const kDeviceProperties;

}  // namespace kernelsmith::cuda
