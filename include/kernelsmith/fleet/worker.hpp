// A worker of the fleet: takes jobs from the server, evaluates them on this machine, and sends back the
// results.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {

/// A backend that a worker offers.
struct WorkerBackend {
  std::string name;      ///< Task::backend
  std::string hardware;  ///< the hardware's name in reports; empty if scores do not depend on the machine
  unsigned slots = 1;    ///< number of jobs at the same time
  /// Prepares a task of this backend on this machine; called from several threads.
  std::function<Result<std::shared_ptr<Evaluator>>(const Task&)> make;
};

/// The backends that a worker offers, and its server.
struct WorkerOptions {
  FleetServer server;
  std::string name;  ///< shown to people; two workers may share one
  std::vector<WorkerBackend> backends;
  /// A job whose worker is silent for this long is given to another worker. The first worker of a kind sets
  /// it.
  std::chrono::milliseconds ack_wait{15'000};
  std::chrono::milliseconds patience{60'000};  ///< the longest absence of the server during a report
  /// How often the worker reports what it offers and recreates missing queues. The server forgets a worker
  /// that was silent for 30 s.
  std::chrono::milliseconds announce_every{10'000};
  /// How long a backend takes no jobs after its machine failed (a tool is missing, a disk is full). The time
  /// doubles with each failure, up to 16 times this value.
  std::chrono::milliseconds rest{60'000};
  /// The number of tasks of a backend that are kept ready, each with its device memory. The least recently
  /// used task is dropped first.
  std::size_t prepared_tasks = 2;
  std::function<void(const Notice&)> tell;  ///< called from several threads; may be empty
};

/// Statistics of a worker.
struct WorkerSummary {
  std::uint64_t evaluated = 0;  ///< jobs that were answered with an evaluation
  std::uint64_t failed = 0;     ///< jobs that were answered with an Error
  std::uint64_t given_up = 0;   ///< jobs that were not run because earlier workers were lost on them
};

/// Works until `stop`, then finishes its running jobs and returns. At the start it fails with the errors that
/// make_fleet_evaluator() has for the server. Later it waits while the server is away.
Result<WorkerSummary> run_worker(const WorkerOptions& options, const std::stop_token& stop);

}  // namespace kernelsmith
