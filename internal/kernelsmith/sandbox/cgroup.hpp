// Cgroup: a control group (v2) of our own, to stop and time a whole tree of processes from outside. A child
// process can evade the process clock, and a timer can evade SIGSTOP; nothing evades the cgroup's clock and
// freezer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A child of this process's cgroup. Movable; not thread-safe, except for kill() and
/// thaw_for_good().
class Cgroup {
 public:
  /// Errors: unsupported if no writable cgroup v2 is mounted (the hint says how to get one).
  static Result<Cgroup> create();

  /// Kills its processes, waits for their end and removes the group.
  ~Cgroup();
  Cgroup(Cgroup&&) noexcept;
  Cgroup& operator=(Cgroup&&) noexcept;

  /// Stops every task. Returns when the kernel confirms that all are frozen. Errors: timeout.
  Status freeze();
  /// Lets the tasks run again. Returns when the kernel confirms it. Errors: timeout.
  Status thaw();

  /// The CPU time, in microseconds, that all tasks of the group have used, including tasks that have ended.
  /// Exact while the group is frozen.
  Result<std::uint64_t> cpu_time_us() const;

  /// Limits the memory of the group as a whole. Returns false if the memory controller is not available here.
  bool limit_memory(std::uint64_t bytes);
  /// Lowers the group's CPU weight to a tenth of that of other groups, so that it hardly slows them but still
  /// makes progress. Returns false if the cpu controller is not available here.
  bool give_way();
  /// True if the kernel killed a task of the group for using too much memory.
  bool out_of_memory() const;

  /// Kills every task, frozen or not.
  void kill() const;

  /// Lets the tasks run again without waiting. Later calls of freeze() fail (`cancelled`).
  void thaw_for_good();

  const std::filesystem::path& path() const;
  /// The open folder of the group, for clone3(CLONE_INTO_CGROUP). To move a running process instead would
  /// cost 11 to 19 ms.
  int descriptor() const;

 private:
  struct State;
  explicit Cgroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith
