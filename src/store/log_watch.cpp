#include "log_watch.hpp"

#include <fstream>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "run_files.hpp"

namespace kernelsmith::detail {
namespace {

namespace fs = std::filesystem;

/// Sixteen times the size at which SQLite writes a log back (1000 pages).
constexpr std::uintmax_t kMostGrowth = std::uintmax_t{64} << 20;

std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

std::string megabytes(std::uintmax_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

bool has_open(const fs::path& process, const FileIdentity& file) {
  std::error_code ended;
  for (fs::directory_iterator fd(process / "fd", ended), end; !ended && fd != end; fd.increment(ended))
    if (identity_of(fd->path()) == file) return true;
  return false;
}

/// A text such as "python3 (process 4711)" for each other process that has the file open. Processes of other
/// users are not visible.
std::string readers_of(const fs::path& file) {
  const auto identity = identity_of(file);
  const std::string own = std::to_string(::getpid());
  std::string readers;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string number = entry->path().filename();
    const bool is_process = number.find_first_not_of("0123456789") == number.npos;
    if (!is_process || number == own || !identity || !has_open(entry->path(), *identity)) continue;
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    readers += (readers.empty() ? "" : ", ") + name + " (process " + number + ")";
  }
  return readers.empty() ? "this process, or one of another user" : readers;
}

}  // namespace

LogWatch::LogWatch(fs::path database, fs::path log)
    : database_(std::move(database)), log_(std::move(log)), size_at_first_(size_of(log_)) {}

void LogWatch::look() {
  if (!tell_ || size_of(log_) < size_at_first_ + kMostGrowth) return;
  std::exchange(tell_, nullptr)(
      log_.string() + " grows, now " + megabytes(size_of(log_)) +
      ", because a reader ends neither its transaction nor its process: " + readers_of(database_));
}

}  // namespace kernelsmith::detail
