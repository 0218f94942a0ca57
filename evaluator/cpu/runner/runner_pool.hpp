// RunnerPool: runners before they have an object and after they were needed. Starting a sandbox takes ten
// times as long as loading a usual object into it, and can be done while a compiler is at work.
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
  /// Between rest() and wake() it is only noted, and done by wake().
  void prepare(const std::vector<const Arena*>& arenas);
  /// Waits until nothing is being started, and until all that was let go has ended. Before anything is timed.
  void rest();
  /// Ends what was retired or set aside, and the rest.
  void wake();

  /// One that waits, else a new one. While resting, one is started for each of the prepared arenas, side by
  /// side with it: if one is loaded anew, the others will be. Errors: as RunnerProcess::start().
  Result<RunnerProcess> take(const Arena& arena);

  /// Takes a runner back and kills its program. The namespaces around it are slow to go: they stay frozen
  /// until wake(), so that nothing goes on while something is timed. If nothing can freeze them, or too
  /// many are kept, they go in the background.
  void retire(RunnerProcess runner);
  /// The same for a trusted object: its program may stay frozen too, and costs nothing now.
  void set_aside(RunnerProcess runner);
  /// Waits until all killed programs have ended, and until nothing is left of those that go in the
  /// background: nobody finds what they held (memory, locks, descriptors).
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
  std::size_t ended_ KERNELSMITH_GUARDED_BY(mutex_) = 0;  ///< how many of the retired are known to have ended
  std::vector<std::future<void>> going_ KERNELSMITH_GUARDED_BY(mutex_);
  bool resting_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::vector<const Arena*> noted_ KERNELSMITH_GUARDED_BY(mutex_);     ///< by prepare() while resting
  std::vector<const Arena*> prepared_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by the last prepare()
  Mutex preparing_mutex_;                                              ///< taken before mutex_
  std::future<void> preparing_ KERNELSMITH_GUARDED_BY(preparing_mutex_);
};

}  // namespace kernelsmith::cpu
