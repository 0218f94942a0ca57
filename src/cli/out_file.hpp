// An output file of a command, written atomically and never inside the run that it shows.
#pragma once

#include <filesystem>
#include <fstream>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cli {

/// Not thread-safe.
class OutFile {
 public:
  /// Opens a temporary file next to `path`, or `path` itself if it is a pipe or a device. Errors:
  /// `invalid_argument` for a file in the folder `run` or a folder, `not_found`, `permission`, `io`.
  static Result<OutFile> open(const std::filesystem::path& path, const std::filesystem::path& run);

  std::ostream& stream() { return stream_; }
  /// Replaces `path` with the written file. Errors: `disk_full`, `io`.
  Status finish();

  OutFile(OutFile&& other) noexcept;
  OutFile& operator=(OutFile&&) = delete;
  /// Removes an unfinished file.
  ~OutFile();

 private:
  OutFile(std::filesystem::path path, std::filesystem::path part);

  std::filesystem::path path_, part_;  ///< equal for a pipe or a device
  std::ofstream stream_;
  bool finished_ = false;
};

}  // namespace kernelsmith::cli
