// Finds the programs of this backend: kernelsmith-cuda-planner and kernelsmith-cuda-runner.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// `name` is the program's. Searches the environment variable ($KERNELSMITH_CUDA_PLANNER,
/// $KERNELSMITH_CUDA_RUNNER), next to this program or Python package, the installation, and the build tree.
/// Errors: tool_missing.
Result<std::filesystem::path> locate_program(const std::string& name, const char* variable);

}  // namespace kernelsmith::cuda
