// Finds the kernelsmith-runner program.
#pragma once

#include <filesystem>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cpu {

/// `given` if it is not empty; else $KERNELSMITH_RUNNER; else in bin/ beside the library that this code is
/// in (a Python package); else beside this program; else in ../libexec/kernelsmith of it; else where it was
/// built or installed. Errors: tool_missing, with the places looked at.
Result<std::filesystem::path> locate_runner(const std::filesystem::path& given);

}  // namespace kernelsmith::cpu
