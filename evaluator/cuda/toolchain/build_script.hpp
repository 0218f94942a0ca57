// The files of a build and the script that makes them, common to all vendors' compilers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cuda {

/// The files of a build, in its working folder.
namespace build_files {
inline constexpr const char* kUnit = "unit.cu";          ///< includes the candidate's files
inline constexpr const char* kHeader = "task.cuh";       ///< generated
inline constexpr const char* kObject = "unit.o";         ///< the host half, compiled
inline constexpr const char* kShim = "shim.o";           ///< input: the generated call, compiled
inline constexpr const char* kHostLibrary = "host.so";   ///< the host half, linked
inline constexpr const char* kLinkerLog = "linker.log";  ///< the linker's messages about missing symbols
}  // namespace build_files

/// A word for /bin/sh.
std::string shell_quoted(std::string_view word);

/// The command that links kHostLibrary from kObject and kShim. Undefined symbols are listed in kLinkerLog but
/// do not fail the link, because the planner defines those of the runtime.
std::string link_with_shim();

/// The script in which the compiler driver runs its steps one after another.
std::string plain_script(const std::vector<std::string>& command, std::string_view link);

}  // namespace kernelsmith::cuda
