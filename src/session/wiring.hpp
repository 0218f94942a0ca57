// The parts of a session's engine.
#pragma once

#include <memory>
#include <stop_token>

#include <kernelsmith/session/session.hpp>

#include "recorded_run.hpp"

namespace kernelsmith {

/// Makes the evaluator of a configuration. Any failure after a stop request is reported as `cancelled`.
Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop);

/// The evaluator, the proposer and the options of an engine, and the recording that it follows first.
struct Wiring {
  std::shared_ptr<Evaluator> evaluator;  ///< null if nothing is measured
  std::shared_ptr<Proposer> proposer;
  EngineOptions options;
  std::unique_ptr<RecordedJournal> recording;
};

/// Checks the configuration and makes the parts. `measures` is false for a run that has ended.
Result<Wiring> wire(const Task& task, const RunConfig& config, const std::stop_token& stop,
                    bool measures = true);

}  // namespace kernelsmith
