// A file of the user's that a command writes: whole, or not at all, and never within the run that it shows.
#pragma once

#include <filesystem>
#include <fstream>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cli {

/// Not thread-safe.
class OutFile {
 public:
  /// Opens a file beside `path`, or `path` itself if that is a pipe or a device. Errors: `invalid_argument`
  /// for a file in the folder `run` or a folder, `not_found`, `permission`, `io`.
  static Result<OutFile> open(const std::filesystem::path& path, const std::filesystem::path& run);

  std::ostream& stream() { return stream_; }
  /// Puts what was written in place of `path`. Errors: `disk_full`, `io`.
  Status finish();

  OutFile(OutFile&& other) noexcept;
  OutFile& operator=(OutFile&&) = delete;
  /// Removes a file that was not finished.
  ~OutFile();

 private:
  OutFile(std::filesystem::path path, std::filesystem::path part);

  std::filesystem::path path_, part_;  ///< equal for a pipe or a device
  std::ofstream stream_;
  bool finished_ = false;
};

}  // namespace kernelsmith::cli
