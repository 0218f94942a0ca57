// JobTable: all requests of the service, from submission until their results are forgotten.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/evaluation_service.hpp>

#include "job.hpp"

namespace kernelsmith::service {

/// Counts of durations by fixed buckets, as Prometheus has them. A value; not thread-safe.
struct Histogram {
  static constexpr std::array kBounds = {0.001, 0.003, 0.01, 0.03,  0.1,   0.3,   1.0,
                                         3.0,   10.0,  30.0, 100.0, 300.0, 1000.0};

  void add(double seconds) {
    const auto bucket = std::ranges::lower_bound(kBounds, seconds);
    ++counts[static_cast<std::size_t>(bucket - kBounds.begin())];
    sum += seconds;
  }

  std::array<std::uint64_t, kBounds.size() + 1>
      counts{};  ///< of each bucket alone; the last one has no bound
  double sum = 0;
};

/// A request with its task and candidate.
struct Submission {
  EvaluationRequest request;
  Assignment assignment;
};

enum class SubmitResult {
  accepted,  ///< or a repeat: the same id with the same content
  conflict,  ///< the same id with other content
  full,
  draining,
  late,     ///< requests wait so long that this one may not be evaluated in time
  resting,  ///< the machine fails at this task
};

/// The reason for refusing a submission.
struct Obstacle {
  std::string conflicting_id;
  std::string machine_fault;
  Seconds pause{};  ///< the task's remaining rest
};

struct Answer {
  State state = State::pending;
  std::string body;  ///< an EvaluationResponse as JSON
};

/// The table's state and statistics, for metrics.
struct Counts {
  std::array<std::size_t, kPriorities> pending{};
  std::size_t processing = 0;
  std::size_t under_way = 0;  ///< jobs in an evaluator, including given-up ones that have not ended
  std::size_t kept = 0, kept_bytes = 0, queued_bytes = 0;
  std::size_t prepared_tasks = 0;
  std::uint64_t submitted = 0, repeated = 0, refused = 0, retried = 0;
  std::array<std::uint64_t, kStates> finished{};  ///< by final state
  Histogram waiting, evaluating;                  ///< seconds
  bool draining = false;

  std::size_t all_pending() const { return pending[0] + pending[1] + pending[2]; }
};

/// A slot for one evaluation at a time; clients call it a worker.
struct EvaluationSlot {
  std::string task_id;  ///< empty: idle
  double seconds = 0;   ///< time since the evaluation began
};

/// Runs at most `workers` evaluations at a time. Higher priorities come first, then earlier submissions; but
/// a request whose task would replace a prepared one lets requests with prepared tasks pass for at most a
/// minute. A request's timeout counts while it is evaluated, ServiceOptions::max_wait while it waits. If the
/// machine fails, the request waits again and its task rests; if the machine is too noisy, only the request
/// waits a little. Each request is answered once: a later answer of the evaluator, after a cancellation or a
/// deadline, is dropped.
///
/// One thread handles everything that is due, and wakes when the next deadline comes or an earlier one is
/// added. Thread-safe.
class JobTable {
 public:
  explicit JobTable(const ServiceOptions& options);
  ~JobTable();
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  /// Submits all or none.
  SubmitResult submit(std::vector<Submission> submissions, Obstacle& obstacle);

  std::optional<Answer> answer(const std::string& id) const;
  std::optional<Json> status(const std::string& id) const;

  /// Cancels the request and kills its evaluation. A finished one is unchanged.
  std::optional<Answer> cancel(const std::string& id);

  /// Calls `then` once, soon after the request is finished or `wait` is over. If the request is finished or
  /// unknown already, calls it at once on this thread.
  void when_finished(const std::string& id, Seconds wait, std::function<void()> then);

  Counts counts() const;
  std::vector<EvaluationSlot> slots() const;

  /// Does what EvaluationService::drain() does, except for the clients.
  void drain(const std::stop_token& stop);

 private:
  using JobPtr = std::shared_ptr<Job>;
  using Queue = std::list<JobPtr>;

  /// A client that waits for the end of a request.
  struct Client {
    JobPtr job;
    Moment until;
    std::function<void()> then;
  };

  /// A task that the machine failed to evaluate.
  struct Fault {
    Rest rest;
    std::string why;
  };

  JobPtr find(const std::string& id) const KERNELSMITH_REQUIRES(mutex_);
  void enqueue(const JobPtr& job, bool first = false) KERNELSMITH_REQUIRES(mutex_);
  void unqueue(const JobPtr& job) KERNELSMITH_REQUIRES(mutex_);
  const Fault* fault_of(const Job& job, Moment now) const KERNELSMITH_REQUIRES(mutex_);
  std::size_t processing() const KERNELSMITH_REQUIRES(mutex_);

  SubmitResult why_not(const std::vector<JobPtr>& fresh, Obstacle&) const KERNELSMITH_REQUIRES(mutex_);
  bool is_late_for(Priority priority, Moment now) const KERNELSMITH_REQUIRES(mutex_);

  JobPtr next(Moment now) KERNELSMITH_REQUIRES(mutex_);
  void pump() KERNELSMITH_REQUIRES(mutex_);
  void turn(const JobPtr& job, bool works);
  void arrived(const JobPtr& job, const Result<Evaluation>& evaluation);
  bool is_tried_again(const JobPtr& job, const Error& error) KERNELSMITH_REQUIRES(mutex_);

  Moment look(Moment now);
  void give_up_late(Moment now, Deferred& calls) KERNELSMITH_REQUIRES(mutex_);
  Moment next_due(Moment now) const KERNELSMITH_REQUIRES(mutex_);

  void end(const JobPtr& job, State, Verdict, Deferred& calls) KERNELSMITH_REQUIRES(mutex_);
  template <class IsOver>
  void answer_clients(const IsOver& is_over, Deferred& calls) KERNELSMITH_REQUIRES(mutex_);
  void forget(const JobPtr& job) KERNELSMITH_REQUIRES(mutex_);

  const ServiceOptions options_;
  const std::string run_;  ///< EvaluationJob::run
  mutable Mutex mutex_;
  StoppableCondition idle_;
  std::unordered_map<std::string, JobPtr> jobs_ KERNELSMITH_GUARDED_BY(mutex_);
  std::array<Queue, kPriorities> queues_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<std::uint64_t, JobPtr> under_way_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by number
  std::list<JobPtr> finished_ KERNELSMITH_GUARDED_BY(mutex_);                 ///< the oldest first
  std::vector<Client> clients_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<Digest, Fault> faults_ KERNELSMITH_GUARDED_BY(mutex_);
  /// Evaluations that were answered, by backend.
  std::map<std::string, std::uint64_t> successes_ KERNELSMITH_GUARDED_BY(mutex_);
  std::uint64_t last_number_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  /// Nothing starts any more. The destructor sets this, because it destroys the pool before the watch.
  bool closing_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  Counts counts_ KERNELSMITH_GUARDED_BY(mutex_);  ///< running counts for counts()
  Repeater watch_;
  PreparedTasks pool_;  ///< last: its destructor answers remaining jobs
};

}  // namespace kernelsmith::service
