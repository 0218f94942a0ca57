// Learns rules for a memory from a stored run (docs/memory.md).
#pragma once

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/learn.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {

/// The rules that an ended run teaches. Errors: `busy` while a process writes it; `invalid_argument` for a
/// run that has not ended, has no task or repeats another run's verdicts; RunStore's.
Result<Learnt> learn_run(const RunView& view);

}  // namespace kernelsmith
