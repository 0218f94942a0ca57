// Files of the run folder: written all or nothing, and the lock that keeps a second writer out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::detail {

/// An Error for the current errno.
Error system_error(std::string_view doing, const std::filesystem::path& path);

/// Replaces the file by a rename, so that a reader sees the old bytes or the new ones.
Status replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Replaces a folder by another one; `fresh` is gone afterwards.
Status replace_folder(const std::filesystem::path& folder, const std::filesystem::path& fresh);

/// Flushes a folder's entries to the disk.
Status flush_folder(const std::filesystem::path& folder);

/// Takes the lock file for this process until the descriptor is closed, by the kernel if need be. Fails with
/// `busy`, naming the process that has it.
Result<Descriptor> take_lock(const std::filesystem::path& path);

/// Whether some process holds take_lock()'s lock.
bool is_locked(const std::filesystem::path& path);

/// Bytes from the kernel's random source, as hexadecimal digits.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace kernelsmith::detail
