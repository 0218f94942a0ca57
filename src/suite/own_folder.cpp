#include "own_folder.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::suite {

namespace fs = std::filesystem;

Result<Descriptor> lock_folder(const fs::path& folder) {
  if (const Status made = make_folders(folder); !made) return made.error();
  Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return system_error("the folder for the results cannot be opened", folder, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return fail(ErrorCode::busy, "another process writes results here", folder.string(),
              "wait for it, or name another folder with --out");
}

Status check_free(const fs::path& folder, const fs::path& state_file,
                  std::span<const char* const> own_names) {
  std::error_code ignored;
  if (fs::exists(state_file, ignored)) return {};
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (const fs::path name = entry.path().filename();
        name.extension() != ".new" && std::ranges::find(own_names, name) == own_names.end())
      return fail(ErrorCode::invalid_argument,
                  "the folder for the results holds something else: " + name.string(), folder.string(),
                  "name a new folder with --out");
  return {};
}

Status check_settings(const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& now, const fs::path& folder) {
  auto all = before;
  all.insert(now.begin(), now.end());
  const auto text = [](const auto& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() || found->second.empty() ? std::string("none") : found->second;
  };
  for (const auto& [name, value] : all)
    if (text(before, name) != text(now, name))
      return fail(ErrorCode::invalid_argument,
                  "the results here were made with other settings: " + name + " was " + text(before, name) +
                      ", and is " + text(now, name) + " now",
                  folder.string(), "give the same options as before, or name another folder with --out");
  return {};
}

}  // namespace kernelsmith::suite
