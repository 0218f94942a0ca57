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

/// The target of plans without a device: an H100 SXM5 with 80 GB.
DeviceFacts h100();

/// Uses `given` (a toolkit's folder), else $CUDA_HOME, else nvcc on the PATH or /usr/local/cuda. Runs nvcc
/// once without a sandbox, because it is the system's own. Errors: tool_missing, with a hint on how to get
/// it.
Result<Toolkit> find_toolkit(const std::filesystem::path& given = {});

/// The shim's definition of cudaGetDeviceProperties.
extern const char* const kDeviceProperties;

}  // namespace kernelsmith::cuda
