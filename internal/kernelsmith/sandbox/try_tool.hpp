// Programs of the system, tried as kernelsmith runs them: for `kernelsmith doctor`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/run.hpp>

namespace kernelsmith {

/// What to do if a scratch folder cannot be made.
inline constexpr const char* kCheckTemporaries =
    "check the folder for temporary files (TMPDIR): is it there, with room?";

/// The path of a program on the PATH.
std::optional<std::string> find_tool(const std::string& name);

/// Runs it with the toolchain in view, in `scratch`: in the sandbox, or without one if there is none.
Result<SandboxResult> try_tool(std::vector<std::string> argv, const std::filesystem::path& scratch,
                               bool sandboxed);

/// Why it did not succeed, in one line; empty if it did.
std::string fault_of(const Result<SandboxResult>& result);

}  // namespace kernelsmith
