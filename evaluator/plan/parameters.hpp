// Describes a launch's parameter bytes for people.
#pragma once

#include <string>

#include <kernelsmith/evaluator/plan.hpp>

#include "plan/addresses.hpp"

namespace kernelsmith::plan {

/// Such as "(x + 4096, 1024, {y, 3, 0.5f}, tensor map 0)". Types are unknown, so each number is shown as an
/// integer, and also as a float if that is plausible.
std::string describe_parameters(const Launch& launch, const Kernel& kernel, const Addresses& addresses);

}  // namespace kernelsmith::plan
