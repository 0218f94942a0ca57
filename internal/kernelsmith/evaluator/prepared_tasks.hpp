// PreparedTasks: an evaluator for each requested task, with a limit on their number.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

using TaskPtr = std::shared_ptr<const Task>;

/// Makes the evaluator of a task, on this machine or on others. May take seconds. A few threads call it at
/// once.
using EvaluatorMaker = std::function<Result<std::shared_ptr<Evaluator>>(const Task& task)>;

/// Prepares each task once, on threads of its own, for all jobs that wait for it. If there is no room, the
/// least recently used idle task is dropped; if all have jobs under way, the new task waits. If a task cannot
/// be prepared, all jobs that wait for it get the Error, and the next job tries again. Thread-safe.
class PreparedTasks {
 public:
  /// Keeps at most `room` evaluators.
  PreparedTasks(EvaluatorMaker make, std::size_t room);

  /// Drops waiting jobs, and returns when no job is under way.
  ~PreparedTasks();
  PreparedTasks(const PreparedTasks&) = delete;
  PreparedTasks& operator=(const PreparedTasks&) = delete;

  /// Calls Evaluator::start_watched when the task is prepared. A stop request has an effect only after that.
  /// No callback is called within start().
  void start(const TaskPtr& task, EvaluationJob job, std::stop_token stop, Sink<Evaluation> done,
             WorkSink works);

  /// Prepares the task again for its next job, unless a job of it is under way.
  void renew(const Digest& task);

  /// Whether a job of this task could start without waiting for room.
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
    std::vector<Waiting> waiting;          ///< jobs that wait for the preparation, or to be started
    std::size_t under_way = 0;             ///< jobs that were started and not answered
    std::uint64_t last_use = 0;
    bool queued = false;  ///< the entry is in due_
  };
  using EntryPtr = std::shared_ptr<Entry>;

  void serve();
  static bool is_spare(const Entry& entry);
  EntryPtr next_due() KERNELSMITH_REQUIRES(mutex_);
  std::shared_ptr<Evaluator> make_room() KERNELSMITH_REQUIRES(mutex_);
  void prepare(const EntryPtr& entry);
  void start_waiting(const EntryPtr& entry);
  void answered(const EntryPtr& entry);
  void queue(const EntryPtr& entry) KERNELSMITH_REQUIRES(mutex_);

  const EvaluatorMaker make_;
  const std::size_t room_;
  mutable Mutex mutex_;
  Condition changed_;
  std::map<Digest, EntryPtr> entries_ KERNELSMITH_GUARDED_BY(mutex_);
  std::deque<EntryPtr> due_ KERNELSMITH_GUARDED_BY(mutex_);  ///< tasks that are to be prepared or have jobs
                                                             ///< to start
  std::vector<std::shared_ptr<Evaluator>> retired_ KERNELSMITH_GUARDED_BY(mutex_);  ///< evaluators to destroy
  std::size_t preparing_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  /// Number of evaluators, including those being made.
  std::size_t occupied_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  std::uint64_t uses_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  bool closing_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  ///< last, because they use all other members
};

}  // namespace kernelsmith
