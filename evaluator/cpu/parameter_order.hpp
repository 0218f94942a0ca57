// Sizes are passed in alphabetical order, which nobody guesses, and a compiler cannot tell two of them apart.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// The names of the entry's parameters in the order in which they are passed: tensors, then sizes.
std::vector<std::string> parameter_names(const Task& task);

/// Errors: refused where the source defines the entry with just these names in another order, so that each
/// would hold what another is meant to. `what` names the source in the task's `files`.
Status check_parameter_order(const Task& task, const Source& source, const std::string& what);

}  // namespace kernelsmith
