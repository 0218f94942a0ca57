// Where the programs of this backend are: kernelsmith-cuda-planner and kernelsmith-cuda-runner.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// `name` is the program's; looks at the variable of the environment ($KERNELSMITH_CUDA_PLANNER,
/// $KERNELSMITH_CUDA_RUNNER), beside this program or Python package, where it was installed, where it was
/// built. Errors: tool_missing.
Result<std::filesystem::path> locate_program(const std::string& name, const char* variable);

}  // namespace kernelsmith::cuda
