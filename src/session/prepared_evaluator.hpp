// The evaluator of a configuration, with one message if preparing it was given up.
#pragma once

#include <memory>
#include <stop_token>

#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// Whatever fails once a stop is requested fails for that reason, and is `cancelled`.
Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop);

}  // namespace kernelsmith
