#include "runner/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>

#include "runner/protocol.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr auto kReapPause = std::chrono::milliseconds(1);
/// The time limit for the driver to reclaim a dead process's memory. Afterwards init has to reap the process.
constexpr auto kReapLimit = std::chrono::seconds(20);

/// What posix_spawn does in the child before the program begins.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int prepare(int descriptor) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    const std::array<int, 8> results{
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDWR, 0),
        ::posix_spawn_file_actions_adddup2(&actions_, 0, 1),
        ::posix_spawn_file_actions_adddup2(&actions_, 0, 2),
        ::posix_spawn_file_actions_adddup2(&actions_, descriptor, kChannelDescriptor),
        ::posix_spawnattr_setsigmask(&attributes_, &none),
        ::posix_spawnattr_setsigdefault(&attributes_, &all),
        ::posix_spawnattr_setpgroup(&attributes_, 0),
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP)};
    for (const int result : results)
      if (result != 0) return result;
    return 0;
  }
  int spawn(pid_t& id, const char* path, char* const* arguments) {
    return ::posix_spawn(&id, path, &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program,
                                         std::vector<std::string> arguments, int descriptor) {
  // The copy's number is above 3, so that dup2 makes a new descriptor without close-on-exec.
  const Descriptor passed(::fcntl(descriptor, F_DUPFD_CLOEXEC, kChannelDescriptor + 1));
  if (!passed) return fail(ErrorCode::io, std::string("fcntl: ") + std::strerror(errno));
  std::string path = program.string();
  std::vector<char*> argv = {path.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  SpawnPlan plan;
  pid_t id = -1;
  int failed = plan.prepare(passed.get());
  if (failed == 0) failed = plan.spawn(id, path.c_str(), argv.data());
  if (failed != 0)
    return fail(failed == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                std::string("the program cannot be started: ") + std::strerror(failed), path);
  return ChildProcess(id);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, -1)) {}

ChildProcess::~ChildProcess() {
  kill();
  static_cast<void>(reap(kReapLimit));
}

bool ChildProcess::running() const {
  if (id_ < 0) return false;
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

void ChildProcess::kill() const {
  if (id_ >= 0) ::kill(-id_, SIGKILL);
}

std::optional<std::string> ChildProcess::reap(std::chrono::milliseconds limit) {
  if (id_ < 0) return "reaped before";
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    int status = 0;
    const pid_t got = ::waitpid(id_, &status, WNOHANG);
    if (got == id_) {
      id_ = -1;
      return describe_end(status);
    }
    if (got < 0 && errno != EINTR) {
      id_ = -1;
      return "an unknown status (something else reaped it)";
    }
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kReapPause);
  }
}

}  // namespace kernelsmith::cuda
