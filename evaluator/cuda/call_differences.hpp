// Finds calls of a batch in which a candidate behaves differently than in earlier ones.
#pragma once

#include <string>

#include <kernelsmith/core/task.hpp>

#include "plan_cache.hpp"

namespace kernelsmith::cuda {

/// Describes how the calls at the first shape differ; returns an empty text if all are equal. Takes as long
/// as describing every call.
std::string call_differences(const PlannedBinary& planned, const Task& task);

}  // namespace kernelsmith::cuda
