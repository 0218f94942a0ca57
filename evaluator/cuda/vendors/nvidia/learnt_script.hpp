// How nvcc builds a candidate: the steps that it would take itself, learnt from its --dryrun, with the
// device's and the host's front ends side by side and the device's code made while the host's is compiled.
// One run of each tool gives both halves, and both name a static kernel by the same module id.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::cuda {

/// Files of a build that only nvcc's has.
namespace build_files {
inline constexpr const char* kModuleId = "unit.module_id";  ///< input of a learnt script
inline constexpr const char* kFatbin = "unit.fatbin.c";     ///< input of a learnt script
inline constexpr const char* kCubin = "unit.cubin";         ///< the device half
}  // namespace build_files

/// What the front ends put into the names of static kernels. The same in every build, so that the same source
/// gives the same bytes.
inline constexpr const char* kModuleIdText = "_00000000_7_unit_cu_kernelsmith";
/// A device image without code in the host library: kernelsmith loads the cubin itself.
inline constexpr const char* kFatbinText =
    "static const struct { int magic, version; const void* data; void* name; } __fatDeviceText = "
    "{0x466243b1, 1, 0, 0};\n";

/// The script of these steps from the --dryrun of a compilation of kUnit to kObject with --keep; empty if
/// it holds a step that is not known. `folder` is the working folder if it was asked for; `link` is run
/// once the host's half is compiled.
std::optional<std::string> learnt_script(std::string_view dryrun, std::string_view folder,
                                         std::string_view link);

}  // namespace kernelsmith::cuda
