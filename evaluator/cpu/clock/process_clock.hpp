// ProcessClock: stops a sandboxed program from outside, and reads the CPU time that it used.
#pragma once

#include <memory>
#include <vector>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/process.hpp>

namespace kernelsmith::cpu {

/// Not thread-safe. The process must outlive the clock.
class ProcessClock {
 public:
  /// Uses the process's cgroup if it has one (tier "full"), else SIGSTOP and the program's own CPU clock
  /// (tier "weak").
  static Result<std::unique_ptr<ProcessClock>> of(SandboxedProcess& process);

  virtual ~ProcessClock() = default;
  virtual Status freeze() = 0;
  virtual Status thaw() = 0;
  /// The CPU time used so far; exact while the program is frozen.
  virtual Result<double> cpu_us() const = 0;
  virtual bool whole_group() const = 0;
  /// The threads that must stop when the program is frozen. The list is complete while the program is frozen.
  virtual std::vector<pid_t> threads() const = 0;
};

}  // namespace kernelsmith::cpu
