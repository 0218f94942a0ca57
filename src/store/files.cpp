#include "files.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

namespace kernelsmith::detail {
namespace fs = std::filesystem;

Error system_error(std::string_view doing, const fs::path& path) { return system_error(doing, path, errno); }

Error system_error(std::string_view doing, const fs::path& path, int number) {
  ErrorCode code = ErrorCode::io;
  std::string hint;
  if (number == ENOSPC || number == EDQUOT || number == EFBIG) {
    code = ErrorCode::disk_full;
    hint = "make room and try again";
  }
  if (number == EACCES || number == EPERM || number == EROFS) code = ErrorCode::permission;
  if (number == ENOENT) code = ErrorCode::not_found;
  const std::string reason = std::generic_category().message(number);
  return fail(code, std::string(doing) + ": " + reason, path.string(), std::move(hint));
}

Result<std::string> read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error("cannot open", path);
  std::string bytes;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot read", path);
    if (count == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Status write_file(const fs::path& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return system_error("cannot create", path);
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file.get()) != 0) return system_error("cannot flush", path);
  return {};
}

Status replace_file(const fs::path& path, std::string_view bytes) {
  fs::path fresh = path;
  fresh += ".new";
  if (auto written = write_file(fresh, bytes); !written) {
    ::unlink(fresh.c_str());
    return written;
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return system_error("cannot replace", path);
  return flush_folder(path.parent_path());
}

Status replace_folder(const fs::path& folder, const fs::path& fresh) {
  fs::path old = fresh;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    // Not every file system can exchange: then the folder is missing for a moment.
    old += ".old";
    if (::rename(folder.c_str(), old.c_str()) != 0 && errno != ENOENT) {
      return system_error("cannot replace", folder);
    }
    if (::rename(fresh.c_str(), folder.c_str()) != 0) return system_error("cannot replace", folder);
  }
  std::error_code error;
  fs::remove_all(old, error);
  if (error) return system_error("cannot remove", old, error.value());
  return flush_folder(folder.parent_path());
}

Status flush_folder(const fs::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() < 0) return system_error("cannot open", folder);
  // EINVAL: a file system that cannot flush folders has nothing to flush.
  if (::fsync(handle.get()) != 0 && errno != EINVAL) return system_error("cannot flush", folder);
  return {};
}

Result<Descriptor> take_lock(const fs::path& path) {
  // flock and not a POSIX lock: those are dropped when any descriptor of the file is closed.
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) return system_error("cannot open", path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("cannot lock", path);
    const auto text = read_file(path);
    return fail(ErrorCode::busy, "in use by process " + (text && !text->empty() ? *text : "?"),
                path.parent_path().string(), "wait for it or end it; to look on, use 'show'");
  }
  const std::string pid = std::to_string(::getpid());
  const bool named = ::ftruncate(file.get(), 0) == 0 &&
                     ::pwrite(file.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!named) return system_error("cannot write", path);
  return file;
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
