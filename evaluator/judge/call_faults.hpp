// Messages for calls and outputs that break a rule.
#pragma once

#include <string>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

#include "judge/context.hpp"

namespace kernelsmith::judge {

/// Whether the diagnostics show values of outputs. They may do so only for the check's sets, which are never
/// timed.
enum class Values { hidden, shown };

/// Such as "rows=65 cols=33", or a phrase for a shape without sizes.
std::string where(const TaskShape& shape);

/// Adds the shape to the failure of a kernel's call, and the usual causes to a crash.
Failure in_a_call(const Failure& failure, const TaskShape& shape, const Task& task);

/// Adds the limit and its terms to a timeout (`timed_out`); returns other failures unchanged.
Failure with_limit(const Failure& failure, const CallLimit& limit);

/// The message for a wrong output: which elements, the worst one's values, and advice. `expected` is null if
/// `found` has the expected value.
Failure wrong(const Findings::Wrong& found, const Expected* expected, const Task& task,
              const TaskShape& shape, Values values);

/// The rejection of a kernel whose two sessions wrote different bytes for the same inputs.
Failure differing(const TaskShape& shape);

Error cancelled();

}  // namespace kernelsmith::judge
