// What a task's own words often have to do with a call that crashes.
#pragma once

#include <string>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// "usual causes: ..." of those that this task can have: sizes in another order, an index input that is drawn
/// like any other number. Empty if it can have neither.
std::string usual_causes_of_a_crash(const Task& task);

/// A crash with them, any other rejection as it is.
Rejection with_usual_causes(Rejection rejection, const Task& task);

}  // namespace kernelsmith
