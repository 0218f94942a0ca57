#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/cgroup.hpp>

#include "cgroup_mount.hpp"
#include "descriptor.hpp"

namespace kernelsmith {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kConfirmationLimit = std::chrono::seconds(2);
constexpr auto kEndLimit = std::chrono::seconds(10);
// The kernel confirms within some 10 us; only a task inside a long system call takes longer.
constexpr int kEagerReads = 2000;

// The number after `key` in lines of "key number".
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while ((at = text.find(key, at)) != std::string_view::npos) {
    const std::size_t end = at + key.size();
    if ((at == 0 || text[at - 1] == '\n') && end < text.size() && text[end] == ' ') {
      std::uint64_t number = 0;
      const auto parsed = std::from_chars(text.data() + end + 1, text.data() + text.size(), number);
      if (parsed.ec == std::errc()) return number;
    }
    at = end;
  }
  return std::nullopt;
}

// Reads an open file of a cgroup again, without allocating.
class Rereader {
 public:
  std::string_view read(int descriptor) {
    const ssize_t count = ::pread(descriptor, buffer_.data(), buffer_.size(), 0);
    return {buffer_.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

 private:
  std::array<char, 1024> buffer_;
};

}  // namespace

struct Cgroup::State {
  std::filesystem::path path;
  Descriptor folder, freeze, events, cpu_stat;
  Mutex freezing;
  bool for_good KERNELSMITH_GUARDED_BY(freezing) = false;

  // Waits for `key value` in cgroup.events; the kernel wakes poll() when the file changes.
  bool wait_for(std::string_view key, std::uint64_t value, Clock::duration limit) const {
    Rereader reader;
    const auto deadline = Clock::now() + limit;
    for (int tries = 0;; ++tries) {
      if (number_after(reader.read(events.get()), key) == value) return true;
      if (Clock::now() > deadline) return false;
      if (tries < kEagerReads) continue;
      pollfd change{events.get(), POLLPRI, 0};
      ::poll(&change, 1, 1);
    }
  }

  Status set_frozen(bool frozen) {
    const MutexLock lock(freezing);
    if (frozen && for_good)
      return fail(ErrorCode::cancelled, "the processes to be frozen are being killed", path.string());
    if (::pwrite(freeze.get(), frozen ? "1" : "0", 1, 0) != 1)
      return system_error("a cgroup could not be frozen or thawed", path.string());
    if (wait_for("frozen", frozen ? 1 : 0, kConfirmationLimit)) return {};
    return fail(ErrorCode::timeout, "the kernel did not confirm a freeze or a thaw within 2 s",
                path.string());
  }
};

Result<Cgroup> Cgroup::create() {
  const std::string hint =
      "run as root, or with a delegated cgroup v2, such as: systemd-run --user --scope -p Delegate=yes "
      "COMMAND";
  const auto parent = own_cgroup("");
  if (!parent)
    return fail(ErrorCode::unsupported, "no cgroup v2 hierarchy is mounted", "/sys/fs/cgroup", hint);
  [[maybe_unused]] static const bool cleaned = (remove_orphans(*parent), true);
  const auto path = make_cgroup_folder(*parent);
  if (!path) return fail(ErrorCode::unsupported, "no cgroup can be made here", parent->string(), hint);

  auto state = std::make_unique<State>();
  state->path = *path;
  state->folder = Descriptor(::open(path->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto open_in = [&](const char* name, int mode) {
    return Descriptor(::openat(state->folder.get(), name, mode | O_CLOEXEC));
  };
  state->freeze = open_in("cgroup.freeze", O_WRONLY);
  state->events = open_in("cgroup.events", O_RDONLY);
  state->cpu_stat = open_in("cpu.stat", O_RDONLY);
  const bool complete = state->freeze && state->events && state->cpu_stat;
  Cgroup group(std::move(state));
  if (!complete)
    return fail(ErrorCode::unsupported, "this kernel's cgroups lack a freezer or a clock", path->string());
  return group;
}

Cgroup::Cgroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cgroup::Cgroup(Cgroup&&) noexcept = default;

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Cgroup::~Cgroup() {
  if (!state_) return;
  kill();
  if (state_->events) state_->wait_for("populated", 0, kEndLimit);
  ::rmdir(state_->path.c_str());
}

Status Cgroup::freeze() { return state_->set_frozen(true); }
Status Cgroup::thaw() { return state_->set_frozen(false); }

Result<std::uint64_t> Cgroup::cpu_time_us() const {
  Rereader reader;
  if (const auto usage = number_after(reader.read(state_->cpu_stat.get()), "usage_usec")) return *usage;
  return fail(ErrorCode::io, "the cgroup's clock cannot be read", state_->path.string());
}

bool Cgroup::limit_memory(std::uint64_t bytes) {
  const int folder = state_->folder.get();
  if (::faccessat(folder, "memory.max", W_OK, 0) != 0)
    write_small_file((state_->path.parent_path() / "cgroup.subtree_control").string(), "+memory");
  if (!write_small_file("memory.max", std::to_string(bytes), folder)) return false;
  write_small_file("memory.swap.max", "0", folder);
  return true;
}

bool Cgroup::give_way() {
  const int folder = state_->folder.get();
  if (::faccessat(folder, "cpu.weight", W_OK, 0) != 0)
    write_small_file((state_->path.parent_path() / "cgroup.subtree_control").string(), "+cpu");
  return write_small_file("cpu.weight", "10", folder);
}

bool Cgroup::out_of_memory() const {
  const std::string events = read_small_file("memory.events", state_->folder.get());
  return number_after(events, "oom_kill").value_or(0) > 0;
}

void Cgroup::kill() const {
  if (!write_small_file("cgroup.kill", "1", state_->folder.get())) {
    // Linux before 5.14 has no cgroup.kill. On some kernels a frozen task dies only when it is thawed.
    std::string tasks = read_small_file("cgroup.procs", state_->folder.get());
    for (const char* at = tasks.data(); at < tasks.data() + tasks.size();) {
      pid_t pid = 0;
      at = std::from_chars(at, tasks.data() + tasks.size(), pid).ptr + 1;
      if (pid > 0) ::kill(pid, SIGKILL);
    }
    write_small_file("cgroup.freeze", "0", state_->folder.get());
  }
}

void Cgroup::thaw_for_good() {
  const MutexLock lock(state_->freezing);
  state_->for_good = true;
  [[maybe_unused]] const ssize_t written = ::pwrite(state_->freeze.get(), "0", 1, 0);
}

const std::filesystem::path& Cgroup::path() const { return state_->path; }
int Cgroup::descriptor() const { return state_->folder.get(); }

}  // namespace kernelsmith
