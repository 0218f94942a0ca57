// Toolkit: where CUDA's compiler is on this machine.
#pragma once

#include <filesystem>
#include <string>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

struct Toolkit {
  std::filesystem::path root;  ///< such as /usr/local/cuda-13.0, links resolved
  std::filesystem::path nvcc;  ///< root / "bin/nvcc"
  std::string version;         ///< "13.0.88"
};

/// Looks at `given` (a toolkit's folder), else at $CUDA_HOME, and if neither is set at nvcc on the PATH
/// and /usr/local/cuda. Runs nvcc once, unsandboxed: it is the system's own. Errors: tool_missing, with how
/// to get it.
Result<Toolkit> find_toolkit(const std::filesystem::path& given = {});

}  // namespace kernelsmith::cuda
