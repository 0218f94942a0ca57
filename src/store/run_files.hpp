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

/// Replaces a folder by another one; `fresh` is gone afterwards.
Status replace_folder(const std::filesystem::path& folder, const std::filesystem::path& fresh);

/// Keeps other writers out of a folder while it lives. The folder itself is locked, because a name in it can
/// be removed; the lock file names the process, and keeps out versions that know nothing else.
struct FolderLock {
  Descriptor folder, file;
};

/// Takes the folder for this process until the lock is destroyed, by the kernel if need be. Fails with
/// `busy`, naming the process that has it.
Result<FolderLock> lock_folder(const std::filesystem::path& folder, const char* lock_file);

/// Whether some process holds lock_folder()'s lock.
bool is_locked(const std::filesystem::path& folder, const char* lock_file);

/// The identity of the file with a name; empty: none.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

/// Bytes from the kernel's random source, as hexadecimal digits.
Result<std::string> random_hex(std::size_t bytes);

}  // namespace kernelsmith::detail
