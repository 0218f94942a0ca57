#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith {

namespace fs = std::filesystem;

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

Status make_folders(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty() && folder.begin()->native().starts_with('~') && !fs::exists(*folder.begin(), error))
    return fail(ErrorCode::invalid_argument,
                "a folder called '~' is meant to be somebody's home, and would be made here", folder.string(),
                "write the home's path, or ./~ if you mean that name");
  fs::create_directories(folder, error);
  return error ? Status(system_error("cannot create the folder", folder, error.value())) : Status();
}

Result<std::string> read_regular_file(const fs::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ELOOP)
    return fail(ErrorCode::bad_input, "a symbolic link where a file was expected", path.string());
  if (!file && errno == ENXIO) return fail(ErrorCode::bad_input, "not a regular file", path.string());
  if (!file) return system_error("cannot open", path, errno);
  return read_regular_file(file, path, limit);
}

Result<std::string> read_regular_file(const Descriptor& file, const fs::path& path, std::size_t limit) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error("cannot examine", path, errno);
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::bad_input, "not a regular file", path.string());
  if (static_cast<std::size_t>(status.st_size) > limit)
    return fail(ErrorCode::bad_input, "a file of more than " + std::to_string(limit) + " bytes",
                path.string());
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot read", path, errno);
    if (count == 0) break;  // the file was truncated meanwhile
    at += static_cast<std::size_t>(count);
  }
  text.resize(at);
  return text;
}

void drop_byte_order_mark(std::string& text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
}

Status check_text(std::string_view bytes, const std::string& where) {
  if (bytes.find('\0') == bytes.npos) return {};
  return fail(ErrorCode::bad_input, "the file is not text: it contains zero bytes", where,
              "give a source file, in UTF-8");
}

Status write_new_file(const fs::path& path, std::string_view bytes, Flush flush) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error("cannot replace", path, errno);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return system_error("cannot create", path, errno);
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (flush == Flush::yes && ::fsync(file.get()) != 0) return system_error("cannot flush", path, errno);
  return {};
}

Status replace_file(const fs::path& path, std::string_view bytes, Flush flush) {
  fs::path fresh = path;
  fresh += ".new";
  if (auto written = write_new_file(fresh, bytes, flush); !written) {
    ::unlink(fresh.c_str());
    return written;
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return system_error("cannot replace", path, errno);
  return flush == Flush::yes ? flush_folder(path.parent_path()) : Status();
}

Status flush_folder(const fs::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle) return system_error("cannot open", folder, errno);
  // EINVAL: a file system that cannot flush folders has nothing to flush.
  if (::fsync(handle.get()) != 0 && errno != EINVAL) return system_error("cannot flush", folder, errno);
  return {};
}

}  // namespace kernelsmith
