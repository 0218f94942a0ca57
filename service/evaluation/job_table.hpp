// JobTable: every request that the service knows, from its submission until its result is forgotten.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/service/evaluation_service.hpp>

#include "alarm.hpp"
#include "histogram.hpp"
#include "job.hpp"
#include "rests.hpp"

namespace kernelsmith::service {

/// A request with what it is about.
struct Submission {
  EvaluationRequest request;
  Assignment assignment;
};

enum class SubmitResult {
  accepted,  ///< or known before: the same id with the same content
  conflict,  ///< an id that is known with another content
  full,
  draining,
  late,     ///< requests wait for so long that this one might not be evaluated in time
  resting,  ///< the machine fails at this task
};

/// Why a submission was not taken.
struct Obstacle {
  std::string conflicting_id;
  std::string machine_fault;
  std::chrono::milliseconds pause{};  ///< how long the task rests
};

struct Answer {
  State state = State::pending;
  std::string body;  ///< an EvaluationResponse as JSON
};

/// What the table holds and did, for metrics.
struct Counts {
  std::array<std::size_t, kPriorities> pending{};
  std::size_t processing = 0;
  std::size_t under_way = 0;  ///< of those, with an evaluator
  std::size_t kept = 0, kept_bytes = 0, queued_bytes = 0;
  std::size_t prepared_tasks = 0;
  std::uint64_t submitted = 0, repeated = 0, refused = 0, retried = 0;
  std::array<std::uint64_t, kStates> finished{};  ///< by final state
  Histogram waiting, evaluating;                  ///< seconds
  bool draining = false;

  std::size_t all_pending() const { return pending[0] + pending[1] + pending[2]; }
};

/// A place for one evaluation at a time: what clients call a worker.
struct EvaluationSlot {
  std::string task_id;  ///< empty: idle
  double seconds = 0;   ///< since it began
};

/// At most `workers` evaluations at a time: higher priorities first, then the order of submission, but a
/// request whose task is prepared comes before one whose task would have to take another's place, for a
/// minute at most. A request's timeout counts while it is evaluated, ServiceOptions::max_wait while it waits.
/// If the machine fails the request waits again, and its task rests.
/// Each is answered once: a later answer of the evaluator, after a cancellation or a deadline, is dropped.
/// Thread-safe.
class JobTable {
 public:
  explicit JobTable(const ServiceOptions& options);
  ~JobTable();
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  /// All or none.
  SubmitResult submit(std::vector<Submission> submissions, Obstacle& obstacle);

  std::optional<Answer> answer(const std::string& id) const;
  std::optional<Json> status(const std::string& id) const;

  /// The request is given up: what runs for it is killed. One that is finished stays as it is.
  std::optional<Answer> cancel(const std::string& id);

  /// Calls `then` once, soon after the request is finished or `wait` is over. At once, on this thread, if
  /// it is finished or not known.
  void when_finished(const std::string& id, std::chrono::duration<double> wait, std::function<void()> then);

  Counts counts() const;
  std::vector<EvaluationSlot> slots() const;

  /// EvaluationService::drain(), without the clients.
  void drain(const std::stop_token& stop);

 private:
  using JobPtr = std::shared_ptr<Job>;
  /// What is to be called without the lock.
  using Calls = std::vector<std::function<void()>>;

  JobPtr find(const std::string& id) const KERNELSMITH_REQUIRES(mutex_);
  JobPtr next() KERNELSMITH_REQUIRES(mutex_);
  void pump() KERNELSMITH_REQUIRES(mutex_);
  void start(const JobPtr& job) KERNELSMITH_REQUIRES(mutex_);
  void enqueue(const JobPtr& job) KERNELSMITH_REQUIRES(mutex_);
  void unqueue(const JobPtr& job) KERNELSMITH_REQUIRES(mutex_);
  SubmitResult why_not(const std::vector<JobPtr>& fresh, Obstacle&) const KERNELSMITH_REQUIRES(mutex_);
  bool is_late_for(Priority priority) const KERNELSMITH_REQUIRES(mutex_);
  bool is_tried_again(const JobPtr& job, const Error& error) KERNELSMITH_REQUIRES(mutex_);
  void wait_again(const JobPtr& job, const Error& error) KERNELSMITH_REQUIRES(mutex_);
  void leave_processing(const Job& job) KERNELSMITH_REQUIRES(mutex_);
  void settle(Job& job, State state, Verdict verdict, Calls& calls) KERNELSMITH_REQUIRES(mutex_);
  void give_up(Job& job, State state, Verdict verdict, Calls& calls) KERNELSMITH_REQUIRES(mutex_);
  void forget(JobPtr job) KERNELSMITH_REQUIRES(mutex_);
  void give_up_waiting(Calls& calls) KERNELSMITH_REQUIRES(mutex_);
  void turn(const JobPtr& job, bool works);
  void arrived(const JobPtr& job, const Result<Evaluation>& evaluation);
  void time_is_up(const JobPtr& job, std::uint64_t stint);
  void try_again(const JobPtr& job);
  void rested();
  void sweep();

  const ServiceOptions options_;
  const std::string run_;  ///< EvaluationJob::run
  mutable Mutex mutex_;
  StoppableCondition idle_;
  std::unordered_map<std::string, JobPtr> jobs_ KERNELSMITH_GUARDED_BY(mutex_);
  std::array<std::list<JobPtr>, kPriorities> queues_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<std::uint64_t, JobPtr> under_way_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by number
  std::list<JobPtr> finished_ KERNELSMITH_GUARDED_BY(mutex_);                 ///< the oldest first
  Rests rests_ KERNELSMITH_GUARDED_BY(mutex_);
  /// Evaluations that were answered, by backend.
  std::map<std::string, std::uint64_t> successes_ KERNELSMITH_GUARDED_BY(mutex_);
  std::uint64_t last_number_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  /// Nothing is started any more: the pool goes before the alarm.
  bool closing_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  Counts counts_ KERNELSMITH_GUARDED_BY(mutex_);
  Alarm alarm_;
  PreparedTasks pool_;  ///< last: its destructor answers what it still has
};

}  // namespace kernelsmith::service
