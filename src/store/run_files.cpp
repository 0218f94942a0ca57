#include "run_files.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::detail {
namespace fs = std::filesystem;

namespace {
constexpr std::size_t kLongestPid = 32;

/// Uses flock() instead of a POSIX lock, which is dropped when any descriptor of the file is closed. Checking
/// whether a run is in use holds its lock for a moment.
bool lock_now(int file) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{5};
  for (int i = 1; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK || i == kTries) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}
}  // namespace

Error system_error(std::string_view doing, const fs::path& path) {
  return kernelsmith::system_error(doing, path, errno);
}

Status replace_folder(const fs::path& folder, const fs::path& fresh) {
  fs::path old = fresh;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    // Not every file system can exchange names; then the folder is missing for a moment.
    old += ".old";
    if (::rename(folder.c_str(), old.c_str()) != 0 && errno != ENOENT) {
      return system_error("cannot replace", folder);
    }
    if (::rename(fresh.c_str(), folder.c_str()) != 0) return system_error("cannot replace", folder);
  }
  std::error_code error;
  fs::remove_all(old, error);
  if (error) return kernelsmith::system_error("cannot remove", old, error.value());
  return flush_folder(folder.parent_path());
}

Result<FolderLock> lock_folder(const fs::path& folder, const char* lock_file) {
  const fs::path path = folder / lock_file;
  const auto busy = [&] {
    const auto pid = read_regular_file(path, kLongestPid);
    return fail(ErrorCode::busy,
                "in use by " + (pid && !pid->empty() ? "process " + *pid : "another process"),
                folder.string(), "wait for it or end it; 'show' can be used meanwhile");
  };
  FolderLock lock;
  lock.folder = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.folder) return system_error("cannot open", folder);
  if (!lock_now(lock.folder.get())) {
    if (errno == EWOULDBLOCK) return busy();
    return system_error("cannot lock", folder);
  }
  lock.file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!lock.file) return system_error("cannot open", path);
  if (!lock_now(lock.file.get())) {
    if (errno == EWOULDBLOCK) return busy();
    return system_error("cannot lock", path);
  }
  const std::string pid = std::to_string(::getpid());
  const bool named = ::ftruncate(lock.file.get(), 0) == 0 &&
                     ::pwrite(lock.file.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!named) return system_error("cannot write", path);
  return lock;
}

bool is_locked(const fs::path& folder, const char* lock_file) {
  const auto locked = [](const fs::path& path, int flags) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags));
    return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  };
  return locked(folder, O_DIRECTORY) || locked(folder / lock_file, O_NOFOLLOW);
}

std::optional<FileIdentity> identity_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

Result<std::string> random_hex(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    unsigned char byte = 0;
    if (::getrandom(&byte, 1, 0) != 1) return system_error("cannot draw random bytes", "getrandom");
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

}  // namespace kernelsmith::detail
