// Finds the kernelsmith-runner program.
#pragma once

#include <filesystem>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cpu {

/// `given` if it is not empty; else $KERNELSMITH_RUNNER; else in bin/ next to the library with this code (a
/// Python package); else next to this program; else in ../libexec/kernelsmith relative to it; else where it
/// was built or installed. Errors: tool_missing, with the searched places.
Result<std::filesystem::path> locate_runner(const std::filesystem::path& given);

}  // namespace kernelsmith::cpu
