// A worker of the fleet: takes jobs from the server, evaluates them on this machine, sends back what came
// out.
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
  std::string hardware;  ///< as reports name it; empty if scores do not depend on the machine
  unsigned slots = 1;    ///< jobs at a time
  /// Prepares a task of it on this machine; called from several threads.
  std::function<Result<std::shared_ptr<Evaluator>>(const Task&)> make;
};

/// What a worker offers, and to which server.
struct WorkerOptions {
  FleetServer server;
  std::string name;  ///< shown to people; two workers may share one
  std::vector<WorkerBackend> backends;
  /// A job whose worker is silent for so long is given to another one. The first worker of a kind sets it.
  std::chrono::milliseconds ack_wait{15'000};
  std::chrono::milliseconds patience{60'000};  ///< how long the server may be away during a report
  /// How often it says what it offers, and makes its queues anew if they are gone. The server forgets a
  /// worker that was silent for 30 s.
  std::chrono::milliseconds announce_every{10'000};
  /// How long a backend takes no jobs whose machine failed (a tool is missing, a disk is full); doubled each
  /// time, to 16 times that.
  std::chrono::milliseconds rest{60'000};
  /// Tasks of a backend that are kept ready, each with its memory on the device; the least recently used goes
  /// first.
  std::size_t prepared_tasks = 2;
  std::function<void(const Notice&)> tell;  ///< called from several threads; may be empty
};

/// What a worker did until it ended.
struct WorkerSummary {
  std::uint64_t evaluated = 0;  ///< jobs that were answered with an evaluation
  std::uint64_t failed = 0;     ///< jobs that were answered with an Error
  std::uint64_t given_up = 0;   ///< jobs that were not run, because workers before this one were lost on them
};

/// Works until `stop`, then finishes what it runs and returns. Errors: make_fleet_evaluator()'s of the
/// server; none later: while the server is away it waits.
Result<WorkerSummary> run_worker(const WorkerOptions& options, const std::stop_token& stop);

}  // namespace kernelsmith
