// Removes a folder that a sandboxed program has filled.
#pragma once

#include <filesystem>

namespace kernelsmith {

/// Removes `path` with all that is in it, however deep, with two descriptors at a time. Nothing may change
/// the folder meanwhile: its sandbox has ended. No link is followed. What the caller may not remove stays.
void remove_tree(const std::filesystem::path& path);

}  // namespace kernelsmith
