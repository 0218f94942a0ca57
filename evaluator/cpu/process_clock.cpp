#include "process_clock.hpp"

#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <sys/types.h>

namespace kernelsmith {
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

 private:
  Cgroup& group_;
};

class SignalClock final : public ProcessClock {
 public:
  SignalClock(pid_t pid, clockid_t clock) : pid_(pid), clock_(clock) {}

  Status freeze() override {
    if (::kill(pid_, SIGSTOP) != 0) return gone();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!stopped()) {
      if (std::chrono::steady_clock::now() > deadline)
        return fail(ErrorCode::timeout, "the runner did not stop within 2 s");
      std::this_thread::yield();
    }
    return {};
  }
  Status thaw() override {
    if (::kill(pid_, SIGCONT) != 0) return gone();
    return {};
  }
  Result<double> cpu_us() const override {
    timespec time{};
    if (::clock_gettime(clock_, &time) != 0) return gone();
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  }
  bool whole_group() const override { return false; }

 private:
  static Error gone() { return fail(ErrorCode::io, "the runner's process is gone"); }

  /// The state behind the name in parentheses, which may itself hold parentheses. A zombie stands still too.
  bool stopped() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    const auto name_end = line.rfind(')');
    if (name_end == line.npos || name_end + 2 >= line.size()) return true;
    const char state = line[name_end + 2];
    return state == 'T' || state == 't' || state == 'Z' || state == 'X';
  }

  pid_t pid_;
  clockid_t clock_;
};

}  // namespace

Result<std::unique_ptr<ProcessClock>> ProcessClock::of(SandboxedProcess& process) {
  if (Cgroup* const group = process.cgroup()) return std::unique_ptr<ProcessClock>(new GroupClock(*group));
  const auto pid = process.program_pid();
  clockid_t clock{};
  if (!pid || ::clock_getcpuclockid(*pid, &clock) != 0)
    return fail(ErrorCode::io, "the runner ended before its clock could be read");
  return std::unique_ptr<ProcessClock>(new SignalClock(*pid, clock));
}

}  // namespace kernelsmith
