// StageScheduler: threads that take work for two stages, within the limits of each.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <kernelsmith/evaluator/staged_evaluator.hpp>

namespace kernelsmith::stages {

/// Where a piece of work waits.
enum class Slot { compile, run };

/// A piece of work. `work` is called once, unless the stop token fired while it waited: then `cancelled` is.
struct StageWork {
  /// With the device that it has for itself, below EvaluatorOptions::run_slots; 0 for Slot::compile.
  std::function<void(std::size_t device)> work;
  std::function<void()> cancelled;
  std::stop_token stop;
};

/// Runs come before compilations: what is compiled is measured before more is compiled. Thread-safe.
class StageScheduler {
 public:
  explicit StageScheduler(const EvaluatorOptions& options);

  /// Returns when nothing waits and nothing runs.
  ~StageScheduler();

  void post(Slot slot, StageWork work);

 private:
  struct Waiting;
  using WaitingPtr = std::shared_ptr<Waiting>;
  struct Taken {
    WaitingPtr item;  ///< null if there is nothing
    Slot slot = Slot::compile;
    bool cancelled = false;  ///< while it waited: it holds no slot
    std::size_t device = 0;  ///< of Slot::run
  };

  void serve();
  Taken take(std::unique_lock<std::mutex>& lock);
  Taken next();                                            // requires mutex_
  WaitingPtr take_stopped(std::deque<WaitingPtr>& queue);  // requires mutex_
  void give_back(const Taken& taken);                      // requires mutex_
  bool may_compile() const;                                // requires mutex_
  bool may_run() const;                                    // requires mutex_

  const EvaluatorOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WaitingPtr> compiles_, runs_;
  std::size_t compiling_ = 0;
  std::vector<bool> leased_;  ///< by device
  std::size_t busy_ = 0;      ///< threads inside a piece of work, which may post more
  bool closing_ = false;
  std::vector<std::jthread> threads_;  ///< last: joined before the rest goes
};

}  // namespace kernelsmith::stages
