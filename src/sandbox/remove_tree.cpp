// A folder in a folder is moved up until there is no depth left, because a program can make thousands of
// levels, and std::filesystem::remove_all holds a descriptor for each level.
#include "remove_tree.hpp"

#include <memory>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.hpp"

namespace kernelsmith {
namespace {

Descriptor open_folder_in(int parent, const char* name) {
  const auto open = [&] {
    return Descriptor(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  };
  Descriptor folder = open();
  // The program may have removed its user's permissions. Root does not need them, but must not follow a link
  // here.
  if (!folder && errno == EACCES && ::fchmodat(parent, name, 0700, 0) == 0) folder = open();
  if (folder) ::fchmod(folder.get(), 0700);
  return folder;
}

/// Removes entries that can be removed without entering them, and returns the names of the remaining folders.
std::vector<std::string> thin_out(int folder) {
  std::vector<std::string> left;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(::fcntl(folder, F_DUPFD_CLOEXEC, 0)),
                                                    ::closedir);
  if (!entries) return left;
  ::rewinddir(entries.get());
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::unlinkat(folder, name.c_str(), 0) == 0 || ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0)
      continue;
    if (errno == ENOTEMPTY || errno == EEXIST) left.push_back(name);
  }
  return left;
}

}  // namespace

void remove_tree(const std::filesystem::path& path) {
  const Descriptor top = open_folder_in(AT_FDCWD, path.c_str());
  if (!top) return;
  std::uint64_t moved = 0;
  for (auto left = thin_out(top.get()); !left.empty();) {
    std::vector<std::string> next;
    for (const std::string& name : left) {
      const Descriptor folder = open_folder_in(top.get(), name.c_str());
      if (!folder) continue;
      for (const std::string& inner : thin_out(folder.get())) {
        ::fchmodat(folder.get(), inner.c_str(), 0700, 0);  // a moved folder must be writable
        std::string name_above;
        do name_above = "moved-" + std::to_string(moved++);
        while (::faccessat(top.get(), name_above.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0);
        if (::renameat(folder.get(), inner.c_str(), top.get(), name_above.c_str()) == 0)
          next.push_back(name_above);
      }
      ::unlinkat(top.get(), name.c_str(), AT_REMOVEDIR);
    }
    left = std::move(next);
  }
  ::rmdir(path.c_str());
}

}  // namespace kernelsmith
