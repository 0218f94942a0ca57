#include "bubblewrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace kernelsmith {

namespace {

class Arguments {
 public:
  template <class... Texts>
  void add(Texts&&... texts) {
    (list_.emplace_back(std::forward<Texts>(texts)), ...);
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void add_isolation(Arguments& arguments, SandboxProfile profile) {
  if (profile != SandboxProfile::online) arguments.add("--unshare-net");
  arguments.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
                "--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL", "--uid",
                std::to_string(kNobody), "--gid", std::to_string(kNobody));
}

bool for_runner(SandboxProfile profile) {
  return profile == SandboxProfile::runner || profile == SandboxProfile::runner_with_threads;
}

// Data attached to a device node is visible in every other sandbox, because the nodes are the host's own.
// Kernels need no nodes.
void add_devices(Arguments& arguments, SandboxProfile profile, const SandboxLimits& limits) {
  arguments.add("--dir", "/dev");
  if (!for_runner(profile))
    for (const char* device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
      arguments.add("--dev-bind", device, device);
  arguments.add("--perms", "1777", "--size", std::to_string(limits.shm_bytes), "--tmpfs", "/dev/shm");
  arguments.add("--perms", "1777", "--size", std::to_string(limits.tmp_bytes), "--tmpfs", "/tmp");
}

bool open_to_nobody(const std::filesystem::path& path, mode_t others, mode_t owner) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  return (status.st_mode & others) == others ||
         (status.st_uid == kNobody && (status.st_mode & owner) == owner);
}

// True if user nobody can enter all folders of the path and read its end.
bool reachable_by_nobody(const std::filesystem::path& path) {
  for (auto folder = path.parent_path();; folder = folder.parent_path()) {
    if (!open_to_nobody(folder, S_IXOTH, S_IXUSR)) return false;
    if (folder == folder.root_path()) return open_to_nobody(path, S_IROTH, S_IRUSR);
  }
}

// Either all sources are staged or none, because the stage hides what lies beneath it. None is staged if
// possible, because another mount namespace costs about as much as all of bubblewrap.
bool needs_stage(const SandboxSpec& spec) {
  const auto closed = [](const Bind& bind) { return !reachable_by_nobody(bind.source); };
  return std::ranges::any_of(spec.read_only, closed) || std::ranges::any_of(spec.read_write, closed);
}

std::string source_of(const Bind& bind, bool staged, SpawnRequest& request) {
  if (!staged) return bind.source.string();
  std::string place = std::string(kStage) + "/" + std::to_string(request.staged.size());
  request.staged.push_back({bind.source.string(), place});
  return place;
}

Status add_binds(Arguments& arguments, const std::vector<Bind>& binds, const char* option, bool staged,
                 SpawnRequest& request) {
  for (const Bind& bind : binds) {
    std::error_code ignored;
    if (!bind.source.is_absolute() || !bind.target.is_absolute())
      return fail(ErrorCode::invalid_argument, "a sandbox's bind must be an absolute path",
                  bind.source.string());
    if (!std::filesystem::exists(bind.source, ignored))
      return fail(ErrorCode::not_found, "a path that a sandbox needs does not exist", bind.source.string());
    arguments.add(option, source_of(bind, staged, request), bind.target.string());
  }
  return {};
}

Status add_copies(Arguments& arguments, const std::vector<Bind>& files, SpawnRequest& request) {
  constexpr std::size_t kMost = 20;
  if (files.size() > kMost) return fail(ErrorCode::invalid_argument, "too many files to copy into a sandbox");
  int target = kFirstCopiedDescriptor;
  for (const Bind& file : files) {
    Descriptor opened(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened)
      return fail(ErrorCode::not_found, "a file that a sandbox needs cannot be read", file.source.string());
    arguments.add("--perms", "0555", "--ro-bind-data", std::to_string(target), file.target.string());
    request.descriptors.emplace_back(opened.get(), target++);
    request.kept.push_back(std::move(opened));
  }
  return {};
}

void add_limits(const SandboxLimits& limits, SpawnRequest& request) {
  const auto add = [&](int resource, std::uint64_t value) {
    rlimit own{};
    if (value == 0 || ::getrlimit(static_cast<__rlimit_resource>(resource), &own) != 0) return;
    request.limits.emplace_back(
        resource, std::min<std::uint64_t>(value, own.rlim_max));  // the user's own limit cannot be raised
  };
  if (limits.limit_address_space) add(RLIMIT_AS, limits.memory_bytes);
  add(RLIMIT_FSIZE, limits.file_bytes);
  add(RLIMIT_NOFILE, limits.open_files);
  add(RLIMIT_CPU, limits.cpu_s > 0 ? static_cast<std::uint64_t>(std::ceil(limits.cpu_s)) : 0);
  request.limits.emplace_back(RLIMIT_CORE, 0);
}

Status describe_common(const SandboxSpec& spec, SpawnRequest& request) {
  if (spec.argv.empty() || !std::filesystem::path(spec.argv.front()).is_absolute())
    return fail(ErrorCode::invalid_argument, "a sandboxed program needs an absolute path",
                spec.argv.empty() ? "" : spec.argv.front());
  for (const PassedDescriptor& passed : spec.descriptors) {
    if (passed.descriptor < 0 || passed.target < 3 || passed.target >= kStatusDescriptor)
      return fail(ErrorCode::invalid_argument, "a passed descriptor needs a number from 3 to 63");
    request.descriptors.emplace_back(passed.descriptor, passed.target);
  }
  for (const auto& [name, value] : spec.environment) request.environment.push_back(name + "=" + value);
  add_limits(spec.limits, request);
  return {};
}

}  // namespace

Result<std::string> find_bubblewrap() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/bwrap";
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fail(ErrorCode::tool_missing, "bubblewrap is not installed, and nothing untrusted runs without it",
              "bwrap", "install it: apt-get install bubblewrap");
}

bool running_as_root() { return ::geteuid() == 0; }

Status describe_to_bubblewrap(const SandboxSpec& spec, SpawnRequest& request) {
  const Result<std::string> program = find_bubblewrap();
  if (!program) return program.error();
  if (Status common = describe_common(spec, request); !common) return common;
  request.become_nobody = running_as_root();
  request.own_sockets_only = spec.profile == SandboxProfile::online;

  const bool staged = request.become_nobody && needs_stage(spec);
  Arguments arguments;
  arguments.add(*program);
  add_isolation(arguments, spec.profile);
  add_devices(arguments, spec.profile, spec.limits);
  for (const SandboxLink& link : spec.links) arguments.add("--symlink", link.points_to, link.target.string());
  if (Status done = add_binds(arguments, spec.read_only, "--ro-bind", staged, request); !done) return done;
  if (Status done = add_binds(arguments, spec.read_write, "--bind", staged, request); !done) return done;
  if (Status done = add_copies(arguments, spec.copied, request); !done) return done;
  arguments.add("--remount-ro", "/", "--chdir", spec.working_directory.string());
  arguments.add("--json-status-fd", std::to_string(kStatusDescriptor), "--seccomp",
                std::to_string(kSeccompDescriptor), "--block-fd", std::to_string(kReleaseDescriptor),
                "--sync-fd", std::to_string(kReleaseKeptDescriptor), "--");
  request.argv = arguments.take();
  request.argv.insert(request.argv.end(), spec.argv.begin(), spec.argv.end());
  return {};
}

Status describe_unconfined(const SandboxSpec& spec, SpawnRequest& request) {
  request.argv = spec.argv;
  request.working_directory = spec.working_directory.string();
  return describe_common(spec, request);
}

}  // namespace kernelsmith
