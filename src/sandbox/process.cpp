#include <charconv>
#include <future>
#include <optional>
#include <thread>

#include <sys/eventfd.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/process.hpp>

#include "supervisor.hpp"

namespace kernelsmith {

// Setting a sandbox up takes some ten milliseconds.
constexpr std::chrono::seconds kSetUpWithin(60);

struct SandboxedProcess::State {
  State(const SandboxSpec& spec, std::optional<Cgroup> group)
      : cgroup(std::move(group)),
        supervisor(spec, cgroup ? &*cgroup : nullptr),
        ended(::eventfd(0, EFD_CLOEXEC)) {}

  ~State() {
    supervisor.request_kill();
    if (watcher.joinable()) watcher.join();
  }

  // The sandbox dies with the thread that starts it, so one thread does both.
  void run(std::promise<Status> started) {
    const Status status = supervisor.start();
    started.set_value(status);
    if (!status) return;
    Result<SandboxResult> end = supervisor.watch();
    {
      const MutexLock lock(mutex);
      result = std::move(end);
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(ended.get(), &one, sizeof one);
    changed.notify_all();
  }

  std::optional<Cgroup> cgroup;
  Supervisor supervisor;
  Descriptor ended;
  mutable Mutex mutex;
  Condition changed;
  std::optional<Result<SandboxResult>> result KERNELSMITH_GUARDED_BY(mutex);
  std::thread watcher;
};

Result<SandboxedProcess> SandboxedProcess::start(const SandboxSpec& spec) {
  std::optional<Cgroup> cgroup;
  if (spec.cgroup)
    if (Result<Cgroup> made = Cgroup::create()) cgroup.emplace(std::move(*made));
  auto state = std::make_unique<State>(spec, std::move(cgroup));
  std::promise<Status> started;
  std::future<Status> status = started.get_future();
  state->watcher = std::thread(
      [raw = state.get(), promise = std::move(started)]() mutable { raw->run(std::move(promise)); });
  if (const Status done = status.get(); !done) return done.error();
  return SandboxedProcess(std::move(state));
}

SandboxedProcess::SandboxedProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
SandboxedProcess::~SandboxedProcess() = default;
SandboxedProcess::SandboxedProcess(SandboxedProcess&&) noexcept = default;
SandboxedProcess& SandboxedProcess::operator=(SandboxedProcess&&) noexcept = default;

pid_t SandboxedProcess::pid() const { return state_->supervisor.pid(); }

std::optional<pid_t> SandboxedProcess::program_pid() const {
  if (state_->supervisor.unconfined()) return pid();
  const auto limit = std::chrono::steady_clock::now() + kSetUpWithin;
  while (alive() && std::chrono::steady_clock::now() < limit) {
    const std::string init = std::to_string(state_->supervisor.init_pid());
    const std::string children = read_small_file("/proc/" + init + "/task/" + init + "/children");
    pid_t program = 0;
    if (std::from_chars(children.data(), children.data() + children.size(), program).ec == std::errc())
      return program;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return std::nullopt;
}

bool SandboxedProcess::alive() const {
  const MutexLock lock(state_->mutex);
  return !state_->result;
}

int SandboxedProcess::exit_descriptor() const { return state_->ended.get(); }
void SandboxedProcess::kill() { state_->supervisor.request_kill(); }

std::optional<Result<SandboxResult>> SandboxedProcess::wait_for(std::chrono::nanoseconds limit) {
  MutexLock lock(state_->mutex);
  state_->changed.wait_for(
      lock, limit, [this]() KERNELSMITH_REQUIRES(state_->mutex) { return state_->result.has_value(); });
  return state_->result;
}

Result<SandboxResult> SandboxedProcess::wait() {
  MutexLock lock(state_->mutex);
  state_->changed.wait(lock,
                       [this]() KERNELSMITH_REQUIRES(state_->mutex) { return state_->result.has_value(); });
  return *state_->result;
}

Cgroup* SandboxedProcess::cgroup() { return state_->cgroup ? &*state_->cgroup : nullptr; }

}  // namespace kernelsmith
