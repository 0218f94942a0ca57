// How a judge is prepared: the task's own kernels are checked, and the scale is measured.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/evaluator/judge.hpp>

#include "judge/context.hpp"
#include "judge/decision.hpp"

namespace kernelsmith::judge {

/// Checks a kernel that the task vouches for as a candidate would be. `what` is its name under `files`.
/// Errors: refused.
Status verify(const Context& context, const BinaryPtr& kernel, const std::string& what);

/// By timed shape, about what a call takes: batches are made by it.
Result<std::vector<double>> time_yardstick(const Context& context, const BinaryPtr& yardstick);

/// The baseline beside the yardstick; exactly 1 if they are the same binary.
Result<Scale> measure_scale(const Context& context, const JudgeParts& parts,
                            const std::vector<double>& yardstick_us);

}  // namespace kernelsmith::judge
