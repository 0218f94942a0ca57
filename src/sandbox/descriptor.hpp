// Small files of the kernel, and the errors of system calls.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith {

/// An Error for the system call that just failed.
inline Error system_error(const std::string& what, const std::string& where = {}) {
  return system_error(what, where, errno);
}

/// Reads the whole of a small file, such as those of /proc and cgroups; empty if that fails.
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
