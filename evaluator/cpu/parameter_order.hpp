// Sizes are passed in alphabetical order, which nobody guesses, and a compiler cannot tell two of them apart.
#pragma once

#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Errors: refused where the source declares the entry with the names of its tensors and sizes in another
/// order, so that each would hold what another is meant to. `what` names the source in the task's `files`.
Status check_parameter_order(const Task& task, const Source& source, const std::string& what);

}  // namespace kernelsmith
