// Descriptor: an owned file descriptor, close-on-exec by convention.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// An Error for the system call that just failed.
inline Error system_error(std::string what, std::string where = {}) {
  const int number = errno;
  ErrorCode code = ErrorCode::io;
  if (number == ENOENT) code = ErrorCode::not_found;
  if (number == EACCES || number == EPERM) code = ErrorCode::permission;
  if (number == ENOSPC || number == EDQUOT) code = ErrorCode::disk_full;
  return fail(code, std::move(what) + ": " + std::strerror(number), std::move(where));
}

/// Reads the whole of a small file, such as those of /proc and cgroups; empty where that fails.
inline std::string read_small_file(const std::string& path, int folder = AT_FDCWD) {
  const Descriptor file(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while (file && (count = ::read(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

/// Writes a small file that exists, such as those of cgroups, in one call.
inline bool write_small_file(const std::string& path, std::string_view text, int folder = AT_FDCWD) {
  const Descriptor file(::openat(folder, path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace kernelsmith
