// Removes a folder that a sandboxed program has filled.
#pragma once

#include <filesystem>

namespace kernelsmith {

/// Removes `path` with all that is in it, however deep, with two descriptors at a time. The program's sandbox
/// must have ended, so that nothing changes the folder meanwhile. Follows no links. Entries that the caller
/// may not remove are left.
void remove_tree(const std::filesystem::path& path);

}  // namespace kernelsmith
