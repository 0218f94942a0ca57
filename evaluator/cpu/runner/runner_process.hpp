// RunnerProcess: a process in a sandbox that waits for one shared object, loads it, and stands still except
// while it is asked to work.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

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
  bool cgroup = true;  ///< false: as on a machine that lends none
  int threads = 1;
  std::shared_ptr<const ReservedCores> cores;  ///< where it runs; null if only its CPU time counts
  std::shared_ptr<const TimingCore> core;      ///< where it runs then, once loaded; null: anywhere
  double load_timeout_s = 10;                  ///< for starting, and again for loading
  double memory_bytes = 4.0 * (1ULL << 30);    ///< beyond the arena
};

/// What a batch took.
struct BatchClock {
  double cpu_us = 0;   ///< of everything in the sandbox, from frozen to frozen
  double wall_us = 0;  ///< from the request until all of it stands still
};

/// Not thread-safe. Movable. The object is frozen between calls.
class RunnerProcess {
 public:
  /// Ready for an object, with the arena mapped, which must outlive the process. Errors: tool_failed, io.
  static Result<RunnerProcess> start(const Arena& arena, const RunnerSettings& settings);

  /// Loads the object: once, and before any call. A rejection is the object's fault.
  Judged<void> load(const std::filesystem::path& object);

  /// False if the process has ended.
  bool alive() const { return process_->alive(); }

  /// Kills the program, frozen or not. Nothing that it held is left when it has ended, which takes some
  /// milliseconds; what is around it, its sandbox, ends with this object. False if it had ended before.
  bool kill_program() const;
  /// Waits until the killed program has ended, two seconds at most.
  void await_end() const;

  /// Has the first `calls` rows of the arena's call table done.
  Judged<BatchClock> call(std::size_t calls, double timeout_s);

  /// True if a cgroup stops and clocks it.
  bool full_tier() const { return clock_->whole_group(); }

 private:
  RunnerProcess(SandboxedProcess process, RunnerChannel channel, const RunnerSettings& settings);
  Judged<void> await_answer(double timeout_s);
  Failure past_deadline(double timeout_s);
  Failure why_it_ended();
  Failure clock_failed(const Error& error);
  Judged<double> stop_and_read();
  /// The candidate, if it used processor time since; else the machine, which gave it none.
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
  double idle_us_ = 0;       ///< what the clock advanced while it was frozen, in all
};

/// Has the process do something that may take as long as its object likes, and kills it on a stop request.
template <class Step>
auto killed_on_stop(RunnerProcess& process, const std::stop_token& stop, Step step) {
  const std::stop_callback killer(stop, [&process] { process.kill_program(); });
  auto outcome = step();
  if (!outcome && stop.stop_requested())
    outcome = Failure(fail(ErrorCode::cancelled, "the evaluation was stopped"));
  return outcome;
}

/// What is to be said of something trusted that failed: the machine's error, else that the task is not
/// usable: "WHAT: the rejection's words".
Error trusted_failure(const Failure& failure, const std::string& what, const std::string& where);

}  // namespace kernelsmith::cpu
