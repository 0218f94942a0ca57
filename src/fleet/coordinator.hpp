// Coordinator: the Evaluator that sends a task's jobs to workers and waits for their results. The caller's
// journal is authoritative; the server is only a queue.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/fleet/fleet_evaluator.hpp>

#include "bus.hpp"
#include "pending_jobs.hpp"
#include "run_places.hpp"

namespace kernelsmith::fleet {

/// Thread-safe. Has three threads: the first puts jobs into the queue; the second looks for results that the
/// listener may have missed; the third answers jobs that were stopped, and jobs that have waited too long for
/// an absent server.
class Coordinator final : public Evaluator {
 public:
  Coordinator(std::shared_ptr<Bus> bus, const Task& task, const FleetOptions& options);
  ~Coordinator() override;
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Stores the task on the server. Errors: Bus's, and choose_hardware()'s if there are workers.
  Status begin();

  void start(EvaluationJob job, std::stop_token stop, Sink<Evaluation> done) override;

 private:
  void ask_all(const std::stop_token& stop);
  void ask(const std::string& subject, const std::stop_token& stop);
  std::uint64_t server_state() const;
  Status send_task(const std::stop_token& stop);
  Status listen_to(const std::string& run);
  Result<bool> is_answered(const std::string& subject, JobId& id, const std::stop_token& stop);
  Result<bool> is_queued(const std::string& subject, const std::string& job_subject, const JobId& id,
                         const std::stop_token& stop);
  Status queue_job(const std::string& subject, Asking asking, const RunPlace& place,
                   const std::stop_token& stop);

  /// Answers the job of the result. Returns whether it did.
  bool take(ResultMessage result);

  void look_for_results(const std::stop_token& stop);
  /// Returns false if the server does not answer.
  bool look_for(const Asked& job, const std::stop_token& stop);
  bool no_answer(const Error& error, Moment asked);
  void ask_again(const std::string& subject);
  bool misses_task(const ResultMessage& result) const;
  void look_for_workers(const std::stop_token& stop);
  void remove_given_up();

  void watch();
  void tell(const std::string& words) const;

  const std::shared_ptr<Bus> bus_;
  const std::string backend_;
  const Digest task_;
  const std::string task_message_;
  const FleetOptions options_;
  PendingJobs pending_;
  std::atomic<std::uint64_t> tasks_missed_ = 0;

  // The asking thread uses these.
  RunPlaces places_;
  std::uint64_t task_sent_with_ = 0;  ///< server_state() when the task was sent
  std::map<std::string, std::unique_ptr<Listening>> listening_;

  // The looking thread uses these.
  std::uint64_t looked_at_ = 0;  ///< server_state() at the last look
  Moment next_look_{};
  std::optional<Moment> without_worker_since_, unanswered_since_;
  bool told_of_workers_ = false;

  // The watching thread uses this.
  bool told_of_absence_ = false;

  Mailbox<std::string> to_ask_;      ///< subjects of the jobs
  Mailbox<std::uint64_t> given_up_;  ///< sequence numbers of abandoned jobs
  Mutex mutex_;
  std::string measured_on_ KERNELSMITH_GUARDED_BY(mutex_);  // the hardware that the first report named
  std::optional<std::string> hardware_ KERNELSMITH_GUARDED_BY(mutex_);  // the hardware of the latest run

  std::jthread asker_;  ///< the threads come last, because they use all members above
  std::optional<Repeater> looker_, watcher_;
};

}  // namespace kernelsmith::fleet
