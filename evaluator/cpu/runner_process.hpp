// RunnerProcess: a process in a sandbox that waits for one shared object, loads it, and stands still except
// while it is asked to work.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/sandbox/process.hpp>

#include "arena.hpp"
#include "channel.hpp"
#include "judged.hpp"
#include "process_clock.hpp"
#include "reserved_cores.hpp"
#include "runner_files.hpp"
#include "step_stream.hpp"
#include "timing_core.hpp"

namespace kernelsmith {

struct RunnerSettings {
  RunnerFiles::Ptr files;  ///< never null
  bool unsandboxed = false;
  bool cgroup = true;  ///< false: as on a machine that lends none
  int threads = 1;
  std::shared_ptr<const ReservedCores> cores;  ///< where it runs; null where only its CPU time counts
  std::shared_ptr<const TimingCore> core;      ///< where it runs then, once loaded; null: anywhere
  double load_timeout_s = 10;                  ///< for starting, and again for loading
  double memory_bytes = 4.0 * (1ULL << 30);    ///< beyond the arena
};

/// What a batch took.
struct BatchClock {
  double cpu_us = 0;   ///< of everything in the sandbox, from frozen to frozen
  double wall_us = 0;  ///< from the request until all of it stands still
};

/// What a batch took whose calls were shown one by one.
struct StepsClock : BatchClock {
  std::vector<double> step_us{};  ///< of each, from when it was shown until it was said to be done
};

/// The calls of such a batch.
class StepScript {
 public:
  virtual ~StepScript() = default;
  virtual std::size_t calls() const = 0;
  virtual Arena& arena() const = 0;
  /// What the stream must hold.
  virtual std::size_t room() const = 0;
  /// Makes a call ready in the arena, and gives what the runner is to read from the stream.
  virtual std::span<const iovec> show(std::size_t call) = 0;
  /// The runner is ready: whether nothing of its outputs was written yet.
  virtual bool untouched() = 0;
  /// It is said to be done.
  virtual void look() = 0;
};

/// Not thread-safe. Movable. The object is frozen between calls.
class RunnerProcess {
 public:
  /// Ready for an object, with the arena mapped, which must outlive the process. Errors: tool_failed, io.
  static Result<RunnerProcess> start(const Arena& arena, const RunnerSettings& settings);

  /// Loads the object: once, and before any call. A rejection is the object's fault.
  Judged<void> load(const std::filesystem::path& object);

  /// False where the process has ended.
  bool alive() const { return process_->alive(); }

  /// Kills the program, frozen or not. Nothing that it held is left when it has ended, which takes some
  /// milliseconds; what is around it, its sandbox, ends with this object. False where it had ended before.
  bool kill_program() const;
  /// Waits until the killed program has ended, two seconds at most.
  void await_end() const;

  /// Has `calls` rows of the arena's call table done, from row `first` on.
  Judged<BatchClock> call(std::size_t first, std::size_t calls, double timeout_s);

  /// Shows it the calls one by one, on another core than the one that the runner is bound to: there must be
  /// two. `manner` is anything but at_once.
  Judged<StepsClock> call_one_by_one(StepScript& script, runner::Manner manner, double timeout_s);

  /// True where a cgroup stops and clocks it.
  bool full_tier() const { return clock_->whole_group(); }

 private:
  RunnerProcess(SandboxedProcess process, RunnerChannel channel, StepStream stream,
                const RunnerSettings& settings);
  Judged<void> await_answer(double left_s, double timeout_s);
  Failure past_deadline(double timeout_s);
  Failure why_it_ended();
  Failure clock_failed(const Error& error);
  Judged<double> stop_and_read();
  Judged<BatchClock> answer(std::size_t first, std::size_t calls, double timeout_s);
  Judged<void> charge_idle_time();
  Judged<BatchClock> stop_after_answer(std::chrono::steady_clock::time_point start, double left_s,
                                       double timeout_s);
  Judged<std::vector<double>> go_through(StepScript& script, std::chrono::steady_clock::time_point deadline);

  std::unique_ptr<SandboxedProcess> process_;
  FileDescriptor program_file_;  ///< a pidfd of the process that the object is loaded into
  std::unique_ptr<ProcessClock> clock_;
  RunnerChannel channel_;
  StepStream stream_;
  std::shared_ptr<const ReservedCores> cores_;
  std::shared_ptr<const TimingCore> core_;
  double load_timeout_s_;
  bool loading_ = true;
  double frozen_at_us_ = 0;  ///< the clock when it was last frozen
  double idle_us_ = 0;       ///< what the clock advanced while it was frozen, in all
};

}  // namespace kernelsmith
