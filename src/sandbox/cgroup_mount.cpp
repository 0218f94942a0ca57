#include "cgroup_mount.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.hpp"

namespace kernelsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "kernelsmith-";

bool lists(std::string_view comma_list, std::string_view item) {
  while (!comma_list.empty()) {
    const std::size_t end = std::min(comma_list.find(','), comma_list.size());
    if (comma_list.substr(0, end) == item) return true;
    comma_list.remove_prefix(std::min(end + 1, comma_list.size()));
  }
  return false;
}

struct Mount {
  std::string root, point;
};

// A line of mountinfo: id parent device root point options [tags...] - type source super-options.
std::optional<Mount> find_mount(std::string_view controller) {
  std::istringstream lines(read_small_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string ignored, type, options;
    Mount mount;
    words >> ignored >> ignored >> ignored >> mount.root >> mount.point;
    while (words >> ignored && ignored != "-") {
    }
    words >> type >> ignored >> options;
    if (controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller)) return mount;
  }
  return std::nullopt;
}

// A line of /proc/self/cgroup: id:controllers:path. The v2 hierarchy has no controllers there.
std::optional<std::string> own_path(std::string_view controller) {
  std::istringstream lines(read_small_file("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : lists(controllers, controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

// The id in "kernelsmith-ID-NUMBER", or 0.
pid_t owner_of(std::string_view folder) {
  pid_t owner = 0;
  if (folder.substr(0, kPrefix.size()) != kPrefix) return 0;
  std::from_chars(folder.data() + kPrefix.size(), folder.data() + folder.size(), owner);
  return owner;
}

}  // namespace

std::optional<fs::path> own_cgroup(std::string_view controller) {
  const std::optional<Mount> mount = find_mount(controller);
  const std::optional<std::string> path = own_path(controller);
  if (!mount || !path) return std::nullopt;
  // In a container the mount may show only a part of the hierarchy.
  std::string_view below = *path;
  if (mount->root != "/" && below.substr(0, mount->root.size()) == mount->root)
    below.remove_prefix(mount->root.size());
  fs::path folder = mount->point + std::string(below);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) folder = mount->point;
  return folder;
}

std::optional<fs::path> make_cgroup_folder(const fs::path& parent) {
  static std::atomic<unsigned> counter{0};
  const std::string name =
      std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  fs::path folder = parent / name;
  if (::mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
  return folder;
}

void remove_orphans(const fs::path& parent) {
  std::error_code ignored;
  std::vector<fs::path> orphans;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const pid_t owner = owner_of(entry.path().filename().string());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) orphans.push_back(entry.path());
  }
  for (const fs::path& orphan : orphans) {
    write_small_file((orphan / "cgroup.kill").string(), "1");
    ::rmdir(orphan.c_str());  // a non-empty one is removed the next time
  }
}

}  // namespace kernelsmith
