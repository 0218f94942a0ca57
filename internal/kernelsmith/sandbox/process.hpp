// SandboxedProcess: a long-lived program in a sandbox, such as a runner, with which we communicate over
// descriptors.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/cgroup.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith {

/// A running sandboxed program. A separate thread reads its output. limits.wall_s applies. Every method
/// except cgroup() is thread-safe.
class SandboxedProcess {
 public:
  /// Starts spec.argv, in a cgroup of its own if that is possible. Errors: those of run_sandboxed().
  static Result<SandboxedProcess> start(const SandboxSpec& spec);

  /// Kills the program and everything that it started. Waits at most half a minute until all has ended.
  ~SandboxedProcess();
  SandboxedProcess(SandboxedProcess&&) noexcept;
  SandboxedProcess& operator=(SandboxedProcess&&) noexcept;

  /// The sandbox's monitor process, as seen from here.
  pid_t pid() const;

  /// The program itself, as seen from here. If there is no cgroup, its CPU clock and SIGSTOP need this pid.
  /// Waits at most a minute until the sandbox is set up. Empty if the program ended first. The system may
  /// reuse the pid of a dead program, so use it only while alive() is true.
  std::optional<pid_t> program_pid() const;

  bool alive() const;

  /// Readable (poll) once the program has ended. Owned by this object.
  int exit_descriptor() const;

  /// Kills the program and everything that it started. Returns at once; wait() returns when all has ended.
  void kill();

  /// Waits for the end, at most for `limit`; then returns empty. An Error (as from run_sandboxed) means that
  /// the sandbox could not be set up and the program never ran, or that the kernel did not end it.
  std::optional<Result<SandboxResult>> wait_for(std::chrono::nanoseconds limit);
  /// Waits for the end.
  Result<SandboxResult> wait();

  /// The program's cgroup. Null if this machine offers none; then the score's tier is "weak".
  Cgroup* cgroup();

 private:
  struct State;
  explicit SandboxedProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith
