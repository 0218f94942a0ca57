#include "out_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <unistd.h>

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::cli {
namespace {

namespace fs = std::filesystem;

/// The disk counts as full if it has fewer bytes left than this.
constexpr std::uintmax_t kRoom = 64 << 10;

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code unknown;
  const fs::path inner = fs::weakly_canonical(path, unknown), outer = fs::weakly_canonical(folder, unknown);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

Error not_opened(const fs::path& path, int number) {
  Error error = system_error("the file cannot be written", path, number);
  if (number == EISDIR) error.code = ErrorCode::invalid_argument;
  if (error.hint.empty()) error.hint = "name a file in a folder that exists and that you may write";
  return error;
}

}  // namespace

OutFile::OutFile(fs::path path, fs::path part)
    : path_(std::move(path)), part_(std::move(part)), stream_(part_, std::ios::binary) {}

OutFile::OutFile(OutFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::move(other.part_)),
      stream_(std::move(other.stream_)),
      finished_(std::exchange(other.finished_, true)) {}

OutFile::~OutFile() {
  std::error_code ignored;
  if (!finished_ && part_ != path_) fs::remove(part_, ignored);
}

Result<OutFile> OutFile::open(const fs::path& path, const fs::path& run) {
  if (is_within(path, run))
    return fail(ErrorCode::invalid_argument, "the file would be in the run's own folder", path.string(),
                "name a file outside of " + run.string());
  std::error_code absent;
  const auto there = fs::status(path, absent);
  if (fs::is_directory(there)) return not_opened(path, EISDIR);
  fs::path part = path;
  if (!fs::exists(there) || fs::is_regular_file(there)) part += ".part." + std::to_string(::getpid());
  errno = 0;
  OutFile file(path, part);
  if (!file.stream_) return not_opened(path, errno);
  return file;
}

Status OutFile::finish() {
  errno = 0;
  stream_.close();
  std::error_code error;
  if (stream_.fail()) {
    const bool full = errno == ENOSPC || (fs::space(part_, error).available < kRoom && !error);
    return fail(full ? ErrorCode::disk_full : ErrorCode::io, "the file cannot be written", path_.string(),
                full ? "make room and try again: the earlier file is unchanged" : "");
  }
  if (part_ != path_) fs::rename(part_, path_, error);
  if (error) return system_error("the file cannot be replaced", path_, error.value());
  finished_ = true;
  return {};
}

}  // namespace kernelsmith::cli
