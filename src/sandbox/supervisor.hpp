// Supervisor: starts one sandbox and watches it until it ends: output, limits, stop requests. start() and
// watch() must be called on the same thread, because the sandbox dies with the thread that started it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/cgroup.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "descriptor.hpp"
#include "spawn.hpp"
#include "tail.hpp"
#include "v1_group.hpp"

namespace kernelsmith {

class Supervisor {
 public:
  /// `cgroup` may be null; it must outlive this object.
  Supervisor(SandboxSpec spec, Cgroup* cgroup);

  Status start();

  /// Returns when the sandbox has ended completely. An Error means that the program never ran, or names what
  /// the kernel did not end (timeout).
  Result<SandboxResult> watch();

  /// Asks watch() to kill the sandbox. May be called on any thread, at any time and any number of times.
  void request_kill();

  pid_t pid() const { return child_.pid; }

  bool unconfined() const { return spec_.confinement == Confinement::unsandboxed; }

  /// The id of the sandbox's init as seen from here; 0 until it is set up. May be called on any thread.
  pid_t init_pid() const { return init_pid_.load(); }

 private:
  Status prepare_pipes(SpawnRequest& request);
  Result<Spawned> fork(const SpawnRequest& request);
  void limit_memory();
  void give_way();
  void kill_everything();
  void end_with(ExitKind kind);
  int patience_ms(std::chrono::steady_clock::time_point started) const;
  bool watches_stillness() const { return spec_.limits.still_s > 0 && cgroup_ != nullptr; }
  bool stands_still();
  void press_on();
  void read_status();
  void set_up_init(pid_t init);
  int wait_and_read(int timeout_ms);
  void reap();
  void drain();
  Result<SandboxResult> conclude();

  SandboxSpec spec_;
  Cgroup* cgroup_;
  std::optional<V1Group> memory_, processors_;
  Spawned child_;
  Descriptor init_pidfd_, out_pipe_, err_pipe_, status_pipe_, release_, wake_;
  Tail out_, err_;
  std::string status_;
  std::atomic<pid_t> init_pid_{0};
  std::optional<ExitKind> verdict_;  ///< set to kill the sandbox
  std::chrono::steady_clock::time_point killed_at_;
  bool pressed_ = false;
  std::chrono::steady_clock::time_point looked_at_;  ///< last check of the processor time, for limits.still_s
  std::uint64_t used_us_ = 0;                        ///< the processor time at that check
  std::optional<Error> failure_;                     ///< the sandbox could not be set up or ended
  bool over_ = false;
  std::optional<int> monitor_status_;  ///< the monitor's exit status, unless other code has taken it
  double wall_s_ = 0;
};

}  // namespace kernelsmith
