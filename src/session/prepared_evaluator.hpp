// Makes the evaluator of a configuration, with one message if that was given up.
#pragma once

#include <memory>
#include <stop_token>

#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// Any failure after a stop request counts as caused by it, and is `cancelled`.
Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop);

}  // namespace kernelsmith
