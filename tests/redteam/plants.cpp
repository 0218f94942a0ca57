#include "plants.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelsmith::redteam {
namespace {

namespace fs = std::filesystem;

/// The name that cases give to what they leave behind.
/// The folder of compute-sanitizer and ncu, which keep it.
constexpr const char* kToolsFolder = "nvidia";
constexpr std::string_view kMark = "redteam_left";
/// The System V key that they use: the same word.
constexpr key_t kMarkKey = 0x72656474;

std::string random_token() {
  std::random_device device;
  std::ostringstream token;
  token << "sk-redteam";
  for (int i = 0; i < 4; ++i) token << std::hex << device();
  return token.str();
}

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write_public(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  fs::permissions(path, fs::perms(0644), error);
  return out.good() && !error;
}

/// What this process has open, by what each descriptor stands for.
std::map<std::string, std::size_t> open_descriptors() {
  std::map<std::string, std::size_t> open;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
    std::string target = fs::read_symlink(entry.path(), error).string();
    ++open[target.substr(0, target.find('['))];  // socket:[NUMBER]
  }
  return open;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::end(at); at.increment(error))
    names.insert(at->path().filename().string());
  return names;
}

/// Those of all threads of this process that live. As the reaper of orphans it has to bury the dead first.
std::vector<std::string> children() {
  while (::waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
  }
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", error)) {
    std::istringstream pids(contents_of(thread.path() / "children"));
    for (std::string pid; pids >> pid;) found.push_back(pid + " " + contents_of("/proc/" + pid + "/comm"));
  }
  return found;
}

/// The control groups that this process made and did not remove.
std::vector<std::string> own_cgroups() {
  std::vector<std::string> found;
  const std::string mine = "kernelsmith-" + std::to_string(::getpid()) + "-";
  std::error_code error;
  fs::recursive_directory_iterator at("/sys/fs/cgroup", fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::end(at); at.increment(error))
    if (at->path().filename().string().starts_with(mine)) found.push_back(at->path().string());
  return found;
}

/// When the nodes of the devices that a sandbox shows were last changed, in nanoseconds.
std::map<std::string, std::int64_t> device_times() {
  std::map<std::string, std::int64_t> times;
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}) {
    struct stat status {};
    if (::stat(device, &status) == 0)
      times[device] = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
  }
  return times;
}

bool harmless(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return byte == '\n' || byte == '\t' || (code >= 0x20 && code != 0x7f);
}

}  // namespace

Result<Plants> Plants::create() {
  // Orphans of a candidate become this process's children, where they can be seen.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::string pattern = (fs::temp_directory_path() / "kernelsmith-redteam-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail(ErrorCode::io, "no folder for the plants", pattern);
  Plants plants;
  plants.folder_ = pattern;
  plants.token_ = random_token();
  ::chmod(pattern.c_str(), 0755);
  const bool written =
      write_public(plants.folder_ / "secret.txt", plants.token_ + "\n") &&
      write_public(plants.folder_ / "other.run/run.yaml", "key: " + plants.token_ + "\n") &&
      write_public(plants.folder_ / "other.run/best/kernel.cpp", "// " + plants.token_ + "\n");
  std::error_code error;
  fs::create_directory(plants.folder_ / "tmp", error);
  if (!written || error) return fail(ErrorCode::io, "the plants cannot be written", pattern);

  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  plants.listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(plants.listener_, generic, length) != 0 || ::listen(plants.listener_, 8) != 0 ||
      ::getsockname(plants.listener_, generic, &length) != 0)
    return fail(ErrorCode::io, std::string("no listener: ") + std::strerror(errno));
  plants.port_ = ntohs(address.sin_port);

  ::setenv("ANTHROPIC_API_KEY", plants.token_.c_str(), 1);
  ::setenv("TMPDIR", (plants.folder_ / "tmp").c_str(), 1);
  plants.shared_memory_ = names_in("/dev/shm");
  plants.device_times_ = device_times();
  return plants;
}

Plants::Plants(Plants&& other) noexcept
    : folder_(std::move(other.folder_)),
      token_(std::move(other.token_)),
      listener_(std::exchange(other.listener_, -1)),
      port_(other.port_),
      descriptors_(std::move(other.descriptors_)),
      shared_memory_(std::move(other.shared_memory_)),
      device_times_(std::move(other.device_times_)) {
  other.folder_.clear();
}

Plants::~Plants() {
  if (listener_ >= 0) ::close(listener_);
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Places Plants::places() const {
  return {{"SECRET_FILE", (folder_ / "secret.txt").string()},
          {"OTHER_RUN", (folder_ / "other.run").string()},
          {"PORT", std::to_string(port_)}};
}

bool Plants::holds_secret(const std::string& text) const { return text.find(token_) != text.npos; }

std::vector<std::string> Plants::leaks_in(const Evaluation& evaluation) const {
  std::vector<std::string> leaks;
  const auto look = [&](const std::string& where, const std::string& text) {
    if (holds_secret(text)) leaks.push_back("a secret in " + where);
    for (const char byte : text)
      if (!harmless(byte)) {
        leaks.push_back("a control byte in " + where);
        break;
      }
  };
  if (const Rejection* rejection = evaluation.rejection()) look("the diagnostics", rejection->diagnostics);
  const Report& report = evaluation.report();
  look("the toolchain", report.toolchain);
  look("the hardware", report.hardware);
  for (const Artifact& artifact : report.artifacts) look(artifact.name, artifact.text);
  return leaks;
}

std::vector<std::string> Plants::leaks_on_disk() const {
  std::vector<std::string> leaks;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_ / "tmp", error);
  for (; !error && at != fs::end(at); at.increment(error))
    if (at->is_regular_file(error) && holds_secret(contents_of(at->path())))
      leaks.push_back("a secret in " + at->path().string());
  return leaks;
}

std::vector<std::string> Plants::leftovers() {
  std::vector<std::string> left;
  for (const std::string& name : names_in(folder_ / "tmp"))
    if (name != kToolsFolder) left.push_back("the file " + name);
  for (const char* folder : {"/dev/shm", "/tmp", "/var/tmp", "/"})
    for (const std::string& name : names_in(folder))
      if (name.starts_with(kMark) && !shared_memory_.contains(name))
        left.push_back(std::string("the file ") + folder + "/" + name);
  for (const auto& [device, time] : device_times())
    if (time != device_times_[device]) left.push_back("a changed time of " + device);
  for (const std::string& child : children()) left.push_back("the process " + child);
  for (const std::string& group : own_cgroups()) left.push_back("the control group " + group);
  if (::shmget(kMarkKey, 0, 0) >= 0) left.emplace_back("a segment of System V shared memory");
  if (::accept(listener_, nullptr, nullptr) >= 0) left.emplace_back("a connection to the listener");
  // What the library keeps for good, such as its filters, it has opened in the first round.
  auto open = open_descriptors();
  for (const auto& [target, count] : open)
    if (!descriptors_.empty() && count > descriptors_[target])
      left.push_back(std::to_string(count - descriptors_[target]) +
                     " open descriptors of the harness: " + target);
  descriptors_ = std::move(open);
  return left;
}

}  // namespace kernelsmith::redteam
