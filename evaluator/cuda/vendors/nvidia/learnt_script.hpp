// Runs nvcc's own build steps, taken from its --dryrun, with the front ends for device and host in parallel
// and the device's code generated during the host's compilation. One run of each tool gives both halves, and
// both name a static kernel by the same module id.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::cuda {

/// Files that only nvcc's build has.
namespace build_files {
inline constexpr const char* kModuleId = "unit.module_id";  ///< input of a learnt script
inline constexpr const char* kFatbin = "unit.fatbin.c";     ///< input of a learnt script
inline constexpr const char* kCubin = "unit.cubin";         ///< the device half
}  // namespace build_files

/// The module id that the front ends put into names of static kernels. It is the same in every build, so that
/// the same source gives the same bytes.
inline constexpr const char* kModuleIdText = "_00000000_7_unit_cu_kernelsmith";
/// A device image without code in the host library: kernelsmith loads the cubin itself.
inline constexpr const char* kFatbinText =
    "static const struct { int magic, version; const void* data; void* name; } __fatDeviceText = "
    "{0x466243b1, 1, 0, 0};\n";

/// The script of these steps from the --dryrun of a compilation of kUnit to kObject with --keep; empty if
/// there is an unknown step. `folder` is the working folder that the steps may name; `link` runs once the
/// host's half is compiled.
std::optional<std::string> learnt_script(std::string_view dryrun, std::string_view folder,
                                         std::string_view link);

}  // namespace kernelsmith::cuda
