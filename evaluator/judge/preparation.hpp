// Prepares a judge: checks the task's own kernels and measures the scale.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/judge.hpp>

#include "judge/context.hpp"
#include "judge/decision.hpp"

namespace kernelsmith::judge {

/// Checks one of the task's own kernels like a candidate. `what` is its name under `files`. Adds the player's
/// steps to `spent_ms`. Errors: refused.
Status verify(const Context& context, const BinaryPtr& kernel, const std::string& what,
              std::map<std::string, double>& spent_ms);

/// The approximate time of a call, by timed shape, for planning batches. Adds the player's steps to
/// `spent_ms`.
Result<std::vector<double>> time_yardstick(const Context& context, const BinaryPtr& yardstick,
                                           std::map<std::string, double>& spent_ms);

/// The baseline's times over the yardstick's; exactly 1 if they are the same binary.
Result<Scale> measure_scale(const Context& context, const JudgeParts& parts,
                            const std::vector<double>& yardstick_us);

}  // namespace kernelsmith::judge
