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

/// Which server and which machines a run's jobs go to, and how long they are waited for.
struct FleetOptions {
  FleetServer server;
  /// Which machines: a part of the name that reports give as `hardware`, in any case. Empty: those that are
  /// there, if they are of one kind.
  std::string hardware;
  std::chrono::milliseconds patience{60'000};         ///< how long the server may be away
  std::chrono::milliseconds wait_for_worker{60'000};  ///< how long there may be no worker
  /// Called from several threads with why a server that is there gives no answer; may be empty.
  std::function<void(const std::string&)> tell = {};
};

/// An evaluator of this task's jobs. The task is sent to the server here; evaluations are data that come back
/// in any order. A job that was asked before under the same run, candidate and attempt, by a process that is
/// gone, is answered from what arrived meanwhile, and is not queued twice. Jobs of a run go to one kind of
/// hardware, which is written down with the first one. What a worker's evaluator answers with an Error
/// comes back as that Error.
///
/// Errors: `unsupported` (built without libnats), `network`, `untrusted`, `permission` (the server and its
/// credentials), `version` (a fleet of another protocol), `invalid_argument` (several kinds of hardware and
/// none chosen, none of that name), `too_long` (a task that is larger than the server's messages).
Result<std::shared_ptr<Evaluator>> make_fleet_evaluator(const Task& task, const FleetOptions& options);

}  // namespace kernelsmith
