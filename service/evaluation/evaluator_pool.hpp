// EvaluatorPool: an evaluator for each task that is asked about, a bounded number of them at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/service/evaluation_service.hpp>

#include "task_resolver.hpp"

namespace kernelsmith::service {

/// Tasks are prepared on threads of the pool, each once for all that wait for it. Where there is no room, the
/// one that was used the longest ago and has nothing under way goes first; a task that finds none such waits
/// for one. A task that cannot be prepared is an Error for all that wait, and is tried again by the next.
/// Thread-safe.
class EvaluatorPool {
 public:
  /// At most `room` evaluators.
  EvaluatorPool(EvaluatorMaker make, std::size_t room);

  /// Drops what waits, and returns when nothing is under way.
  ~EvaluatorPool();
  EvaluatorPool(const EvaluatorPool&) = delete;
  EvaluatorPool& operator=(const EvaluatorPool&) = delete;

  /// Evaluator::start_watched, once the task is prepared. Stopping takes effect from then on. Nothing is
  /// called inside start().
  void start(const TaskPtr& task, EvaluationJob job, std::stop_token stop, Sink<Evaluation> done,
             WorkSink works);

  /// The task is prepared anew for its next job, unless it has something under way.
  void renew(const Digest& task);

  /// Whether a job of this task would not wait for room.
  bool has_room_for(const Digest& task) const;

  std::size_t prepared() const;

 private:
  struct Waiting {
    EvaluationJob job;
    std::stop_token stop;
    Sink<Evaluation> done;
    WorkSink works;
  };
  struct Entry {
    explicit Entry(TaskPtr of) : task(std::move(of)) {}

    const TaskPtr task;                    ///< read without the lock
    std::shared_ptr<Evaluator> evaluator;  ///< null until it is prepared
    std::vector<Waiting> waiting;          ///< for that, or to be started
    std::size_t under_way = 0;             ///< started and not answered
    std::uint64_t last_use = 0;
    bool queued = false;  ///< among due_
  };
  using EntryPtr = std::shared_ptr<Entry>;

  void serve();
  static bool is_spare(const Entry& entry);
  EntryPtr next_due();                     // requires mutex_
  std::shared_ptr<Evaluator> make_room();  // requires mutex_
  void prepare(const EntryPtr& entry);
  void start_waiting(const EntryPtr& entry);
  void answered(const EntryPtr& entry);
  void queue(const EntryPtr& entry);  // requires mutex_

  const EvaluatorMaker make_;
  const std::size_t room_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Digest, EntryPtr> entries_;
  std::deque<EntryPtr> due_;                         ///< have something to prepare or to start
  std::vector<std::shared_ptr<Evaluator>> retired_;  ///< to be let go of
  std::size_t preparing_ = 0;
  std::size_t occupied_ = 0;  ///< evaluators that are or are being made
  std::uint64_t uses_ = 0;
  bool closing_ = false;
  std::vector<std::jthread> threads_;  ///< last: they use all the others
};

}  // namespace kernelsmith::service
