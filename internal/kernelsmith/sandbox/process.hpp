// SandboxedProcess: a long-lived program in a sandbox, such as a runner, which is talked to over the
// descriptors that it was given.
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

/// A running sandboxed program. Its output is drained by a thread of its own, and limits.wall_s holds. Every
/// method but cgroup()'s is thread-safe.
class SandboxedProcess {
 public:
  /// Starts spec.argv, in a cgroup of its own if that is possible. Errors: those of run_sandboxed().
  static Result<SandboxedProcess> start(const SandboxSpec& spec);

  /// Kills the program and everything that it started, and returns when nothing of it is left, or the kernel
  /// has not ended it for half a minute.
  ~SandboxedProcess();
  SandboxedProcess(SandboxedProcess&&) noexcept;
  SandboxedProcess& operator=(SandboxedProcess&&) noexcept;

  /// The process that was cloned for it, as seen from here: the sandbox's monitor.
  pid_t pid() const;

  /// The program itself, as seen from here (for its CPU clock and SIGSTOP if there is no cgroup). Waits
  /// until the sandbox is set up, a minute at most; empty if the program ended first. A pid of a dead program
  /// may be given out again: believe it only while alive() holds.
  std::optional<pid_t> program_pid() const;

  bool alive() const;

  /// Readable (poll) once the program has ended. Owned by this object.
  int exit_descriptor() const;

  /// Kills the program and everything that it started. Returns at once; wait() tells when all is gone.
  void kill();

  /// Waits for the end; empty when it has not come within `limit`. An Error (as of run_sandboxed) says that
  /// the sandbox could not be set up and the program never ran, or that the kernel did not end it.
  std::optional<Result<SandboxResult>> wait_for(std::chrono::nanoseconds limit);
  /// Waits for the end.
  Result<SandboxResult> wait();

  /// Its cgroup, or null if this machine lends none: the score's tier is then "weak".
  Cgroup* cgroup();

 private:
  struct State;
  explicit SandboxedProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith
