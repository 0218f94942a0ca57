// The files of a build and the script that makes them, as far as every vendor's compiler has them in common.
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
inline constexpr const char* kLinkerLog = "linker.log";  ///< what the linker said of missing symbols
}  // namespace build_files

/// A word for /bin/sh.
std::string shell_quoted(std::string_view word);

/// The command that makes kHostLibrary of kObject and kShim. Every symbol that nothing defines is listed in
/// kLinkerLog, and the library is made all the same: those of the runtime are the planner's to define.
std::string link_with_shim();

/// The script that has the compiler take its steps itself, one after another.
std::string plain_script(const std::vector<std::string>& command, std::string_view link);

}  // namespace kernelsmith::cuda
