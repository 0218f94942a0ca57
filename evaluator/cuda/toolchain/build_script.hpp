// How a candidate is built: the steps that nvcc itself would take, learnt from its --dryrun, with the
// device's and the host's front ends side by side and the device's code made while the host's is compiled.
// One run of each tool gives both halves, and both name a static kernel by the same module id.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cuda {

/// The files of a build, in its working folder.
namespace build_files {
inline constexpr const char* kUnit = "unit.cu";             ///< includes the candidate's files
inline constexpr const char* kHeader = "task.cuh";          ///< generated
inline constexpr const char* kModuleId = "unit.module_id";  ///< input of a learnt script
inline constexpr const char* kFatbin = "unit.fatbin.c";     ///< input of a learnt script
inline constexpr const char* kObject = "unit.o";            ///< the host half, compiled
inline constexpr const char* kCubin = "unit.cubin";         ///< the device half
inline constexpr const char* kShim = "shim.o";              ///< input: the generated call, compiled
inline constexpr const char* kHostLibrary = "host.so";      ///< the host half, linked
inline constexpr const char* kLinkerLog = "linker.log";     ///< what the linker said of missing symbols
}  // namespace build_files

/// What the front ends put into the names of static kernels. The same in every build, so that the same source
/// gives the same bytes.
inline constexpr const char* kModuleIdText = "_00000000_7_unit_cu_kernelsmith";
/// A device image without code in the host library: kernelsmith loads the cubin itself.
inline constexpr const char* kFatbinText =
    "static const struct { int magic, version; const void* data; void* name; } __fatDeviceText = "
    "{0x466243b1, 1, 0, 0};\n";

/// A word for /bin/sh.
std::string shell_quoted(std::string_view word);

/// The command that makes kHostLibrary of kObject and kShim. Every symbol that nothing defines is listed in
/// kLinkerLog, and the library is made all the same: those of CUDA are the planner's to define.
std::string link_with_shim();

/// The script of these steps from the --dryrun of a compilation of kUnit to kObject with --keep; empty if
/// it holds a step that is not known. `folder` is the working folder if it was asked for; `link` is run
/// once the host's half is compiled.
std::optional<std::string> learnt_script(std::string_view dryrun, std::string_view folder,
                                         std::string_view link);

/// The script that has nvcc take the steps itself, one after another.
std::string plain_script(const std::vector<std::string>& command, std::string_view link);

}  // namespace kernelsmith::cuda
