// Scratch folders, and the escape for what a program printed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A new folder that the sandboxed user may write (bind it read_write), removed with all its contents by the
/// destructor. Movable. It is locked while it is in use: one that a killed process left behind is removed by
/// the next process of the same user that makes one beside it.
class ScratchFolder {
 public:
  /// Below `parent`, or below the system's folder for temporary files. Errors: io, disk_full, permission.
  static Result<ScratchFolder> create(const std::filesystem::path& parent = {});

  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file that the sandboxed user may read; makes missing folders. `relative` must not climb out.
  Status write(const std::filesystem::path& relative, std::string_view text) const;

  /// Reads a regular file that the sandboxed program left, at most `limit` bytes. Symbolic links are not
  /// followed, neither at the end nor on the way: they are the program's. Errors: not_found, bad_input (no
  /// regular file, or larger than `limit`), io.
  Result<std::string> read(const std::filesystem::path& relative, std::size_t limit) const;

 private:
  ScratchFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_ = -1;  ///< the folder itself, opened and locked
};

}  // namespace kernelsmith
