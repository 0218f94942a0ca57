// Mistakes in a task that often make a call crash.
#pragma once

#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// "usual causes: ..." with the causes that are possible for this task: sizes in another order, or an input
/// of indices that is drawn like any other numbers. Empty if neither is possible.
std::string usual_causes_of_a_crash(const Task& task);

/// Adds the usual causes to a crash. Leaves other rejections unchanged.
Rejection with_usual_causes(Rejection rejection, const Task& task);

}  // namespace kernelsmith
