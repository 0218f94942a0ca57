// Prepares a stored run for memory's learner.
#include <kernelsmith/session/learn_run.hpp>

#include "run_memory.hpp"

namespace kernelsmith {

Result<Learnt> learn_run(const RunView& view) {
  const std::string where = view.folder.string();
  if (!view.has_task)
    return fail(ErrorCode::invalid_argument, "a run without a task cannot be learnt", where,
                "only runs that kernelsmith run began hold their task");
  if (view.in_use) return fail(ErrorCode::busy, "a process is writing the run", where, "wait for its end");
  const auto recorded = view.config.proposer.provider->traits().recorded;
  if (recorded && recorded->evaluations == RecordedEvaluations::kept)
    return fail(ErrorCode::invalid_argument, "the run repeats another one's verdicts", where,
                "learn that one: " + recorded->folder.string());
  if (view.reason == EndReason::unfinished)
    return fail(ErrorCode::invalid_argument, "the run has not ended", where,
                "'kernelsmith resume' takes it to its end");
  const auto read = stored_snapshot(view.folder, view.config.memory);
  if (!read) return read.error();
  return learnt_from(*view.store, view.task, view.config, *read);
}

}  // namespace kernelsmith
