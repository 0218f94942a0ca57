// A stored run as the learner of memory takes it.
#include <kernelsmith/memory/learn.hpp>
#include <kernelsmith/memory/retrieval.hpp>
#include <kernelsmith/session/learn_run.hpp>

namespace kernelsmith {

Result<std::vector<MemoryRule>> learn_run(const RunView& view) {
  const std::string where = view.folder.string();
  if (!view.has_task)
    return fail(ErrorCode::invalid_argument, "a run without a task cannot be learnt", where,
                "only runs that kernelsmith run began hold their task");
  if (view.in_use) return fail(ErrorCode::busy, "a process is writing the run", where, "wait for its end");
  if (view.reason == EndReason::unfinished)
    return fail(ErrorCode::invalid_argument, "the run has not ended", where,
                "'kernelsmith resume' takes it to its end");
  return learn(*view.store,
               {view.run_id, view.task.digest.hex(), view.task.backend, memory_terms(view.task)});
}

}  // namespace kernelsmith
