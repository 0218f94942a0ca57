// RunnerProcess: a process in a sandbox that waits for one shared object, loads it, and is frozen except
// during requests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include <kernelsmith/evaluator/verdict.hpp>
#include <kernelsmith/sandbox/process.hpp>

#include "clock/cores.hpp"
#include "clock/process_clock.hpp"
#include "clock/reserved_cores.hpp"
#include "runner/arena.hpp"
#include "runner/channel.hpp"
#include "runner/runner_files.hpp"

namespace kernelsmith::cpu {

struct RunnerSettings {
  RunnerFiles::Ptr files;  ///< never null
  bool unsandboxed = false;
  bool cgroup = true;  ///< false: works as on a machine without cgroups
  int threads = 1;
  std::shared_ptr<const ReservedCores> cores;  ///< the cores for wall time; null if only CPU time counts
  std::shared_ptr<const TimingCore> core;      ///< the core for CPU time after loading; null: any core
  double load_timeout_s = 10;                  ///< limit for starting, and again for loading
  double memory_bytes = 4.0 * (1ULL << 30);    ///< limit, in addition to the arena
};

/// The times of a batch.
struct BatchClock {
  double cpu_us = 0;   ///< CPU time of everything in the sandbox between two freezes
  double wall_us = 0;  ///< from the request until everything is frozen
};

/// Not thread-safe. Movable. The object is frozen between calls.
class RunnerProcess {
 public:
  /// Starts a process that maps the arena and waits for an object. The arena must outlive the process.
  /// Errors: tool_failed, io.
  static Result<RunnerProcess> start(const Arena& arena, const RunnerSettings& settings);

  /// Loads the object: once, and before any call. A rejection is the object's fault.
  Judged<void> load(const std::filesystem::path& object);

  /// Returns false if the process has ended.
  bool alive() const { return process_->alive(); }

  /// Kills the program, even if it is frozen. The program releases everything when it has ended, after some
  /// milliseconds; its sandbox ends with this object. False if the program had already ended.
  bool kill_program() const;
  /// Waits until the killed program has ended, at most two seconds.
  void await_end() const;

  /// Runs the first `calls` rows of the arena's call table.
  Judged<BatchClock> call(std::size_t calls, double timeout_s);

  /// Returns true if the process is stopped and timed through a cgroup.
  bool full_tier() const { return clock_->whole_group(); }

 private:
  RunnerProcess(SandboxedProcess process, RunnerChannel channel, const RunnerSettings& settings);
  Judged<void> await_answer(double timeout_s);
  Failure past_deadline(double timeout_s);
  Failure why_it_ended();
  Failure clock_failed(const Error& error);
  Judged<double> stop_and_read();
  /// Decides whose fault it is that a process did not stop: the candidate's if it used processor time after
  /// `before_us` was read, else the machine's.
  Failure who_did_not_stop(const Result<double>& before_us);
  Judged<BatchClock> answer(std::size_t calls, double timeout_s);
  Judged<void> charge_idle_time();

  std::unique_ptr<SandboxedProcess> process_;
  Descriptor program_file_;  ///< a pidfd of the process that the object is loaded into
  std::unique_ptr<ProcessClock> clock_;
  RunnerChannel channel_;
  std::shared_ptr<const ReservedCores> cores_;
  std::shared_ptr<const TimingCore> core_;
  double load_timeout_s_;
  bool loading_ = true;
  double frozen_at_us_ = 0;  ///< the clock when it was last frozen
  double idle_us_ = 0;       ///< total advance of the clock while it was frozen
};

/// Runs a request whose duration depends on the object, and kills the process on a stop request.
template <class Step>
auto killed_on_stop(RunnerProcess& process, const std::stop_token& stop, Step step) {
  const std::stop_callback killer(stop, [&process] { process.kill_program(); });
  auto outcome = step();
  if (!outcome && stop.stop_requested())
    outcome = Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
  return outcome;
}

/// The Error for a trusted object that failed: the machine's error unchanged, or an error that the task is
/// not usable ("WHAT: the rejection's words").
Error trusted_failure(const Failure& failure, const std::string& what, const std::string& where);

}  // namespace kernelsmith::cpu
