// Scratch folders for sandboxed programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A new folder that the sandboxed user may write (bind it read_write). The destructor removes it with its
/// contents. Movable. The folder is locked while it is in use. Folders that killed processes left are removed
/// by the next process of the same user that makes one in the same place.
class ScratchFolder {
 public:
  /// Makes it below `parent`, or below the system's folder for temporary files. Errors: io, disk_full,
  /// permission.
  static Result<ScratchFolder> create(const std::filesystem::path& parent = {});

  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file that the sandboxed user may read. Makes missing folders. `relative` must not leave the
  /// folder.
  Status write(const std::filesystem::path& relative, std::string_view text) const;

  /// Reads a regular file that the sandboxed program left, at most `limit` bytes. No symbolic link in the
  /// path is followed, because the program may have made it. Errors: not_found, bad_input (not a regular
  /// file, or larger than `limit`), io.
  Result<std::string> read(const std::filesystem::path& relative, std::size_t limit) const;

 private:
  ScratchFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_ = -1;  ///< the folder itself, opened and locked
};

}  // namespace kernelsmith
