// StageScheduler: runs work for two stages on threads, within the limits of each.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>

namespace kernelsmith::stages {

/// The stage for which a piece of work waits.
enum class Slot { compile, run };

/// A piece of work. Calls `work` once. If the stop token fires while it waits, calls `cancelled` instead, on
/// the thread that requested the stop.
struct StageWork {
  /// Gets the index of its own device, below EvaluatorOptions::run_slots; 0 for Slot::compile.
  std::function<void(std::size_t device)> work;
  std::function<void()> cancelled;
  std::stop_token stop;
};

/// Runs come before compilations, so that compiled candidates are measured before more are compiled.
/// Thread-safe.
class StageScheduler {
 public:
  explicit StageScheduler(const EvaluatorOptions& options);

  /// Waits until no work waits or runs.
  ~StageScheduler();

  void post(Slot slot, StageWork work);

 private:
  struct Waiting;
  using WaitingPtr = std::shared_ptr<Waiting>;
  using Queue = std::deque<WaitingPtr>;

  void serve();
  void stop(Slot slot, const Waiting* item);
  bool may_compile() const KERNELSMITH_REQUIRES(mutex_);
  bool may_run() const KERNELSMITH_REQUIRES(mutex_);

  const EvaluatorOptions options_;
  Mutex mutex_;
  Condition changed_;
  Queue compiles_ KERNELSMITH_GUARDED_BY(mutex_), runs_ KERNELSMITH_GUARDED_BY(mutex_);
  std::size_t compiling_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::vector<bool> leased_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by device
  /// Pieces of work that run or are cancelled now. They may post more.
  std::size_t busy_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  bool closing_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  ///< last: joined before other members are destroyed
};

}  // namespace kernelsmith::stages
