// BackendService: runs a worker's jobs of one backend, several at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/fleet/worker.hpp>

#include "bus.hpp"
#include "messages.hpp"
#include "task_gate.hpp"
#include "task_source.hpp"

namespace kernelsmith::fleet {

/// Counters that the services of a worker share.
struct WorkCounts {
  std::atomic<std::uint64_t> evaluated = 0, failed = 0, given_up = 0;
};

/// Thread-safe.
class BackendService {
 public:
  /// Calls `changed` when a rest begins or ends. `bus`, `options` and `counts` must outlive the service.
  BackendService(Bus& bus, const WorkerOptions& options, const WorkerBackend& backend, WorkCounts& counts,
                 std::function<void()> changed);

  /// Begins to take jobs, until a stop is requested. Errors: Bus's.
  Status begin(const std::stop_token& stop);

  /// Makes the queue if the server has none (any more). Returns how long the queue waits for a silent worker.
  Result<milliseconds> declare_queue(const std::stop_token& stop);

  /// Waits until every started job is answered. A stop must have been requested before.
  void finish();

  Offer offer() const { return {backend_.name, backend_.hardware, backend_.slots}; }
  /// Whether the service rests, that is takes no jobs for a while because its machine failed.
  bool rests() const { return std::chrono::steady_clock::now() < rests_until(); }

 private:
  void serve(JobSource& source, const std::stop_token& stop);
  void handle(Delivery& delivery, const std::stop_token& stop);
  Result<std::uint64_t> begin_again(const Delivery& delivery, const JobId& id, const std::stop_token& stop);
  Result<Evaluation> evaluate(EvaluationJob job, const std::stop_token& stop);
  void answer(Delivery& delivery, const JobId& id, Result<Evaluation> answer);
  void wait_while_resting(const std::stop_token& stop);
  Moment rests_until() const;
  void rest_after(const Error& error);
  void tell(Notice::Level level, const std::string& text) const;
  Error as_mine(Error error) const;

  Bus& bus_;
  const WorkerOptions& options_;
  const WorkerBackend& backend_;
  WorkCounts& counts_;
  const std::function<void()> changed_;
  TaskSource tasks_;
  PreparedTasks prepared_;
  TaskGate gate_;
  std::atomic<milliseconds> ack_wait_;
  mutable Mutex mutex_;
  Rest rest_ KERNELSMITH_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<JobSource>> sources_;
  std::vector<std::jthread> threads_;
};

}  // namespace kernelsmith::fleet
