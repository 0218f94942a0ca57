// Tries system programs in the way in which kernelsmith runs them, for `kernelsmith doctor`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/run.hpp>

namespace kernelsmith {

/// The remedy if a scratch folder cannot be made.
inline constexpr const char* kCheckTemporaries =
    "check the folder for temporary files (TMPDIR): is it there, with room?";

/// The path of a program on the PATH.
std::optional<std::string> find_tool(const std::string& name);

/// Runs a program in `scratch` with access to the toolchain, in the sandbox if there is one.
Result<SandboxResult> try_tool(std::vector<std::string> argv, const std::filesystem::path& scratch,
                               bool sandboxed);

/// The reason of the failure in one line; empty for success.
std::string fault_of(const Result<SandboxResult>& result);

}  // namespace kernelsmith
