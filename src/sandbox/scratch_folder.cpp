// A folder that a sandboxed program may write to, with safe functions to read it.
#include <chrono>
#include <system_error>

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "bubblewrap.hpp"
#include "descriptor.hpp"
#include "remove_tree.hpp"

namespace kernelsmith {

namespace {

namespace fs = std::filesystem;

// The folder belongs to the sandboxed user, who may have put links there: none is followed.
Descriptor open_below(int folder, const fs::path& relative, int flags, unsigned mode = 0) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return Descriptor(static_cast<int>(::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how)));
}

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

Status give_to_nobody(int descriptor, const fs::path& path) {
  if (running_as_root() && ::fchown(descriptor, kNobody, kNobody) != 0)
    return system_error("a scratch file could not be handed to the sandboxed user", path.string());
  return {};
}

Status make_folders(int root, const fs::path& relative) {
  fs::path sofar;
  for (const fs::path& part : relative) {
    sofar /= part;
    const Descriptor parent = sofar.has_parent_path()
                                  ? open_below(root, sofar.parent_path(), O_RDONLY | O_DIRECTORY)
                                  : Descriptor(::fcntl(root, F_DUPFD_CLOEXEC, 0));
    if (!parent || (::mkdirat(parent.get(), part.c_str(), 0755) != 0 && errno != EEXIST))
      return system_error("a folder could not be made", sofar.string());
    const Descriptor made = open_below(root, sofar, O_RDONLY | O_DIRECTORY);
    if (!made) return system_error("a folder could not be opened", sofar.string());
    if (Status given = give_to_nobody(made.get(), sofar); !given) return given;
  }
  return {};
}

constexpr std::string_view kScratchPrefix = "kernelsmith-scratch-";

// A folder this young may not have been locked yet by the process that makes it.
constexpr auto kYoung = std::chrono::minutes(1);

bool is_ours(const struct stat& status) {
  return status.st_uid == ::geteuid() || (running_as_root() && status.st_uid == kNobody);
}

void remove_if_orphaned(const fs::path& path) {
  std::error_code ignored;
  const auto changed = fs::last_write_time(path, ignored);
  if (ignored || fs::file_time_type::clock::now() - changed < kYoung) return;
  const Descriptor folder = open_folder(path);
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0 || !is_ours(status)) return;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) remove_tree(path);
}

// The lock of a scratch folder ends with its process, so a folder that can be locked is unused.
void remove_orphaned_folders(const fs::path& base) {
  std::error_code ignored;
  for (fs::directory_iterator it(base, fs::directory_options::skip_permission_denied, ignored), end;
       !ignored && it != end; it.increment(ignored)) {
    if (it->path().filename().string().starts_with(kScratchPrefix)) remove_if_orphaned(it->path());
  }
}

std::string named_by_tmpdir() {
  for (const char* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* const folder = std::getenv(name)) return std::string(name) + "=" + folder;
  return "/tmp";
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create(const fs::path& parent) {
  std::error_code error;
  const fs::path base = parent.empty() ? fs::temp_directory_path(error) : parent;
  if (error)
    return fail(ErrorCode::not_found, "there is no folder for temporary files", named_by_tmpdir(),
                "set TMPDIR");
  remove_orphaned_folders(base);
  std::string name = (fs::absolute(base) / kScratchPrefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    return system_error("a scratch folder could not be made", base.string());
  ScratchFolder folder{fs::path(name), ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
  if (folder.lock_ < 0 || ::flock(folder.lock_, LOCK_EX | LOCK_NB) != 0)
    return system_error("a scratch folder could not be opened", name);
  if (Status given = give_to_nobody(folder.lock_, folder.path()); !given) return given.error();
  return folder;
}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) remove_tree(path_);
  if (lock_ >= 0) ::close(lock_);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

Status ScratchFolder::write(const fs::path& relative, std::string_view text) const {
  const std::string where = (path_ / relative).string();
  const Descriptor root = open_folder(path_);
  if (!root) return system_error("the scratch folder is gone", path_.string());
  if (Status made = make_folders(root.get(), relative.parent_path()); !made) return made;
  const Descriptor file = open_below(root.get(), relative, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0644);
  const auto not_written = [&] {
    Error error = system_error("a file could not be written", where);
    if (error.code == ErrorCode::disk_full)
      error.hint = "make room there, or name a folder with more of it in the environment variable TMPDIR";
    return error;
  };
  if (!file) return not_written();
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return not_written();
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return give_to_nobody(file.get(), relative);
}

Result<std::string> ScratchFolder::read(const fs::path& relative, std::size_t limit) const {
  const std::string where = (path_ / relative).string();
  const Descriptor root = open_folder(path_);
  const Descriptor file = open_below(root.get(), relative, O_RDONLY | O_NONBLOCK);
  if (!file && (errno == ELOOP || errno == EXDEV))
    return fail(ErrorCode::bad_input, "a symbolic link where a file was expected", where);
  if (!file) return system_error("a file could not be read", where);
  return read_regular_file(file, where, limit);
}

}  // namespace kernelsmith
