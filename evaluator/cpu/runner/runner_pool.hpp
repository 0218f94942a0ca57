// RunnerPool: keeps runners that wait for an object, and retired ones. Starting a sandbox takes ten times as
// long as loading a usual object into it, and can happen while a compiler runs.
#pragma once

#include <cstddef>
#include <future>
#include <map>
#include <optional>
#include <vector>

#include <kernelsmith/core/mutex.hpp>

#include "runner/runner_process.hpp"

namespace kernelsmith::cpu {

/// Thread-safe.
class RunnerPool {
 public:
  explicit RunnerPool(RunnerSettings settings);
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;
  ~RunnerPool();

  /// Starts runners in the background until a few wait for each of the arenas, which must outlive this.
  /// Between rest() and wake() the request is only recorded; wake() executes it.
  void prepare(const std::vector<const Arena*>& arenas);
  /// Waits until no runner is starting and all released ones have ended. Called before anything is timed.
  void rest();
  /// Ends what rest() began, and ends the retired and kept runners.
  void wake();

  /// Takes a waiting runner, else starts one. During a rest it also starts one for each other prepared arena
  /// in parallel, because these will be needed too. Errors: those of RunnerProcess::start().
  Result<RunnerProcess> take(const Arena& arena);

  /// Takes a runner back and kills its program. Its namespaces end slowly, so they stay frozen until wake()
  /// and do not disturb timing. If they cannot be frozen, or too many are kept, they end in the background.
  void retire(RunnerProcess runner);
  /// Takes back a runner with a trusted object. Its program need not be killed and may stay frozen, too.
  void set_aside(RunnerProcess runner);
  /// Waits until all killed programs and those that end in the background have ended, so that nobody can find
  /// their memory, locks or descriptors.
  void settle();

 private:
  void keep_or_let_go(RunnerProcess runner, bool quiet, std::vector<RunnerProcess> RunnerPool::*kept);
  void let_go(RunnerProcess runner);
  void bury();
  void start_all(const std::vector<const Arena*>& arenas);
  bool wanted(const Arena& arena, std::size_t count);
  bool start_one(const Arena& arena);
  std::optional<RunnerProcess> take_waiting(const Arena& arena);
  std::vector<const Arena*> partners_of(const Arena& arena);

  const RunnerSettings settings_;
  Mutex mutex_;
  std::map<const Arena*, std::vector<RunnerProcess>> waiting_ KERNELSMITH_GUARDED_BY(mutex_);
  std::vector<RunnerProcess> aside_ KERNELSMITH_GUARDED_BY(mutex_), retired_ KERNELSMITH_GUARDED_BY(mutex_);
  std::size_t ended_ KERNELSMITH_GUARDED_BY(mutex_) = 0;  ///< number of retired runners known to have ended
  std::vector<std::future<void>> going_ KERNELSMITH_GUARDED_BY(mutex_);
  bool resting_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::vector<const Arena*> noted_ KERNELSMITH_GUARDED_BY(mutex_);     ///< set by prepare() during a rest
  std::vector<const Arena*> prepared_ KERNELSMITH_GUARDED_BY(mutex_);  ///< set by the last prepare()
  Mutex preparing_mutex_;                                              ///< locked before mutex_
  std::future<void> preparing_ KERNELSMITH_GUARDED_BY(preparing_mutex_);
};

}  // namespace kernelsmith::cpu
