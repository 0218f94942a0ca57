// The fleet as an Evaluator: jobs go to workers on other machines over NATS JetStream (docs/fleet.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {

/// The server and the machines for a run's jobs, and how long to wait for them.
struct FleetOptions {
  FleetServer server;
  /// Selects machines by a part of their `hardware` name in reports, in upper or lower case. If empty, all
  /// machines are selected, and must be of one kind.
  std::string hardware;
  std::chrono::milliseconds patience{60'000};         ///< the longest absence of the server
  std::chrono::milliseconds wait_for_worker{60'000};  ///< the longest time without a worker
  /// Called from several threads with the reason why a connected server gives no answer; may be empty.
  std::function<void(const std::string&)> tell = {};
};

/// Makes an evaluator of this task's jobs, and sends the task to the server. Evaluations return in any order.
/// If an earlier process sent a job with the same run, candidate and attempt, the job is not queued again,
/// and an answer that arrived meanwhile is used. All jobs of a run go to one kind of hardware, which the
/// first job records. If a worker's evaluator answers with an Error, the answer is that Error.
///
/// Errors: `unsupported` (built without libnats), `network`, `untrusted`, `permission` (the server and its
/// credentials), `version` (a fleet of another protocol), `invalid_argument` (several kinds of hardware of
/// which none was chosen, or no hardware of that name), `too_long` (a task that is larger than the server's
/// messages).
Result<std::shared_ptr<Evaluator>> make_fleet_evaluator(const Task& task, const FleetOptions& options);

}  // namespace kernelsmith
