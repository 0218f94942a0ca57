// What a stored run teaches a memory (docs/memory.md).
#pragma once

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/learn.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {

/// What a run that has ended teaches. Errors: `busy` while a process writes it, `invalid_argument` for one
/// that has not ended, has no task or repeats another one's verdicts, and RunStore's.
Result<Learnt> learn_run(const RunView& view);

}  // namespace kernelsmith
