// The parts of a session's engine.
#pragma once

#include <memory>
#include <stop_token>

#include <kernelsmith/session/session.hpp>

#include "recorded_run.hpp"

namespace kernelsmith {

/// The evaluator of a configuration. Whatever fails once a stop is requested fails for that reason, and is
/// `cancelled`.
Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop);

/// The evaluator, the proposer and the options of an engine, and what it follows first.
struct Wiring {
  std::shared_ptr<Evaluator> evaluator;  ///< null if nothing is measured
  std::shared_ptr<Proposer> proposer;
  EngineOptions options;
  std::unique_ptr<RecordedJournal> recording;
};

/// Checks the configuration and makes them. `measures` is false for a run that has ended.
Result<Wiring> wire(const Task& task, const RunConfig& config, const std::stop_token& stop,
                    bool measures = true);

}  // namespace kernelsmith
