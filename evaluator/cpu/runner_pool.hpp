// RunnerPool: runners before they have an object and after they were needed. Starting a sandbox takes ten
// times as long as loading a usual object into it and can be done while a compiler is at work; what is left
// of one can go while the next is made ready.
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "runner_process.hpp"

namespace kernelsmith {

/// Thread-safe.
class RunnerPool {
 public:
  explicit RunnerPool(RunnerSettings settings);
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;
  ~RunnerPool();

  /// Starts runners in the background until a few wait for each of the arenas, which must outlive this.
  void prepare(const std::vector<const Arena*>& arenas);
  /// Has that come to rest: none is started in the background until the next prepare(). One that is being
  /// started is waited for by rest() alone.
  void call_off();
  void rest();

  /// One that waits, else a new one. Errors: as RunnerProcess::start().
  Result<RunnerProcess> take(const Arena& arena);

  /// Takes a runner back and kills its program. What is slow to go, the namespaces around it, stays frozen
  /// until bury(), so that nothing goes on while something is timed; where there is nothing to freeze it
  /// with, or too many are kept, it goes in the background.
  void retire(RunnerProcess runner);
  /// The same for one whose object is trusted: its program may stay frozen too, and costs nothing now.
  void set_aside(RunnerProcess runner);
  /// Waits until all killed programs have ended, and until nothing is left of those that go in the
  /// background. From then on nobody finds what they held: memory, locks, descriptors, queued signals.
  void settle();
  /// Lets all go that were retired or set aside.
  void bury();

 private:
  void keep_or_let_go(RunnerProcess runner, bool quiet, std::vector<RunnerProcess>& kept);
  void let_go(RunnerProcess runner);
  std::size_t waiting(const Arena& arena);
  void start_one(const Arena& arena);
  void start_all(const std::vector<const Arena*>& arenas);

  const RunnerSettings settings_;
  std::mutex mutex_;  ///< guards waiting_, aside_, retired_, ended_ and going_
  std::map<const Arena*, std::vector<RunnerProcess>> waiting_;
  std::vector<RunnerProcess> aside_, retired_;
  std::size_t ended_ = 0;  ///< how many of the retired are known to have ended
  std::vector<std::future<void>> going_;
  std::mutex preparing_mutex_;  ///< guards preparing_
  std::atomic<bool> resting_ = true;
  std::future<void> preparing_;
};

}  // namespace kernelsmith
