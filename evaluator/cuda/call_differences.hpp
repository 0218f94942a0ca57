// In which calls of a batch a candidate does something else than in the calls before them.
#pragma once

#include <string>

#include <kernelsmith/core/task.hpp>

#include "plan_cache.hpp"

namespace kernelsmith::cuda {

/// How the calls at the first shape differ, in words; empty if all calls do the same. It takes as long as
/// describing every call.
std::string call_differences(const PlannedBinary& planned, const Task& task);

}  // namespace kernelsmith::cuda
