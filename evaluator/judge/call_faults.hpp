// The words for calls and outputs that break a rule.
#pragma once

#include <string>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

#include "judge/context.hpp"

namespace kernelsmith::judge {

/// Whether the diagnostics may show values of outputs: those of the check's sets, which are never timed.
enum class Values { hidden, shown };

/// "rows=65 cols=33", or words for a shape without a name.
std::string where(const TaskShape& shape);

/// A failure of calls, with the shape if it is the kernel's, and the usual causes of a crash.
Failure in_a_call(const Failure& failure, const TaskShape& shape, const Task& task);

/// What took too long (`timed_out`) with the limit, and what that is made of; any other failure as it is.
Failure with_limit(const Failure& failure, const CallLimit& limit);

/// An output that is not `expected`: which elements, the worst one's values, and what helps. Null if
/// `found` tells by itself what was due.
Failure wrong(const Findings::Wrong& found, const Expected* expected, const Task& task,
              const TaskShape& shape, Values values);

/// Two sessions wrote different bytes for the same inputs.
Failure differing(const TaskShape& shape);

Error cancelled();

}  // namespace kernelsmith::judge
