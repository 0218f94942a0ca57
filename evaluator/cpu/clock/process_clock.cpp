#include "clock/process_clock.hpp"

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <kernelsmith/core/descriptor.hpp>

namespace kernelsmith::cpu {
namespace {

class GroupClock final : public ProcessClock {
 public:
  explicit GroupClock(Cgroup& group) : group_(group) {}
  Status freeze() override { return group_.freeze(); }
  Status thaw() override { return group_.thaw(); }
  Result<double> cpu_us() const override {
    const auto used = group_.cpu_time_us();
    if (!used) return used.error();
    return static_cast<double>(*used);
  }
  bool whole_group() const override { return true; }
  std::vector<pid_t> threads() const override {
    std::ifstream file(group_.path() / "cgroup.threads");
    return {std::istream_iterator<pid_t>(file), {}};
  }

 private:
  Cgroup& group_;
};

class SignalClock final : public ProcessClock {
 public:
  SignalClock(pid_t pid, Descriptor process, clockid_t clock)
      : tasks_("/proc/" + std::to_string(pid) + "/task"), process_(std::move(process)), clock_(clock) {}

  Status freeze() override {
    if (!signal(SIGSTOP)) return gone();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!all_stopped()) {
      if (std::chrono::steady_clock::now() > deadline)
        return fail(ErrorCode::timeout, "the runner did not stop within 2 s");
      std::this_thread::yield();
    }
    return {};
  }
  Status thaw() override {
    if (!signal(SIGCONT)) return gone();
    return {};
  }
  Result<double> cpu_us() const override {
    timespec time{};
    if (::clock_gettime(clock_, &time) != 0) return gone();
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  }
  bool whole_group() const override { return false; }
  std::vector<pid_t> threads() const override {
    std::vector<pid_t> found;
    std::error_code gone;
    std::filesystem::directory_iterator at(tasks_, gone);
    for (; !gone && at != std::filesystem::directory_iterator(); at.increment(gone))
      found.push_back(static_cast<pid_t>(std::stol(at->path().filename().string())));
    return found;
  }

 private:
  static Error gone() { return fail(ErrorCode::io, "the runner's process is gone"); }

  bool signal(int number) const {
    return ::syscall(SYS_pidfd_send_signal, process_.get(), number, nullptr, 0) == 0;
  }

  /// Checks every thread, because the first one may have ended long before the others.
  bool all_stopped() const {
    std::error_code error;
    std::filesystem::directory_iterator at(tasks_, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
      if (!stopped(at->path() / "stat")) return false;
    return true;
  }

  /// The state follows the name in parentheses, which may itself contain parentheses. A zombie also counts as
  /// stopped.
  static bool stopped(const std::filesystem::path& stat) {
    std::ifstream file(stat);
    std::string line;
    if (!std::getline(file, line)) return true;
    const auto name_end = line.rfind(')');
    if (name_end == line.npos || name_end + 2 >= line.size()) return true;
    const char state = line[name_end + 2];
    return state == 'T' || state == 't' || state == 'Z' || state == 'X';
  }

  std::filesystem::path tasks_;
  Descriptor process_;
  clockid_t clock_;
};

}  // namespace

Result<std::unique_ptr<ProcessClock>> ProcessClock::of(SandboxedProcess& process) {
  if (Cgroup* const group = process.cgroup()) return std::unique_ptr<ProcessClock>(new GroupClock(*group));
  const auto pid = process.program_pid();
  clockid_t clock{};
  Descriptor descriptor(pid ? static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)) : -1);
  if (descriptor.get() < 0 || ::clock_getcpuclockid(*pid, &clock) != 0)
    return fail(ErrorCode::io, "the runner ended before its clock could be read");
  return std::unique_ptr<ProcessClock>(new SignalClock(*pid, std::move(descriptor), clock));
}

}  // namespace kernelsmith::cpu
