// Finds the mounts of this process's own control groups.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace kernelsmith {

/// This process's folder in the v2 hierarchy (`controller` empty), or in that of a v1 controller.
std::optional<std::filesystem::path> own_cgroup(std::string_view controller);

/// Makes a folder with a new name in `parent`; empty if that is not permitted.
std::optional<std::filesystem::path> make_cgroup_folder(const std::filesystem::path& parent);

/// Removes the folders that dead processes of kernelsmith left in `parent`, and kills what still runs in
/// them.
void remove_orphans(const std::filesystem::path& parent);

}  // namespace kernelsmith
