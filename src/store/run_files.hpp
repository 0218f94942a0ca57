// Files of the run folder: atomic writes, and the lock that keeps a second writer out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::detail {

/// An Error for the current errno.
Error system_error(std::string_view doing, const std::filesystem::path& path);

/// Replaces a folder by the folder `fresh`, which is gone afterwards.
Status replace_folder(const std::filesystem::path& folder, const std::filesystem::path& fresh);

/// Keeps other writers out of a folder while it lives. The folder itself is locked, because a name in it can
/// be removed. The lock file names the process, and keeps out older versions, which know only the lock file.
struct FolderLock {
  Descriptor folder, file;
};

/// Locks the folder for this process until the lock is destroyed. If the process ends, the kernel releases
/// it. Errors: `busy`, which names the process that has the lock.
Result<FolderLock> lock_folder(const std::filesystem::path& folder, const char* lock_file);

/// Whether some process holds lock_folder()'s lock.
bool is_locked(const std::filesystem::path& folder, const char* lock_file);

/// The identity of the file with a name; empty if there is no file.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

/// Bytes from the kernel's random source, as hexadecimal digits.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace kernelsmith::detail
