// What a stored run teaches a memory (docs/memory.md).
#pragma once

#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/rule.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {

/// The rules of a run that has ended. Errors: `busy` while a process writes it, `invalid_argument` for one
/// that has not ended or has no task, and RunStore's.
Result<std::vector<MemoryRule>> learn_run(const RunView& view);

}  // namespace kernelsmith
