#include "prepared_evaluator.hpp"

namespace kernelsmith {

Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop) {
  auto evaluator = config.evaluator.provider->make(task, stop);
  if (evaluator || !stop.stop_requested()) return evaluator;
  return fail(ErrorCode::cancelled, "stopped while the task was being prepared");
}

}  // namespace kernelsmith
