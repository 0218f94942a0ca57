// The figures of a plan that the archive knows candidates by. Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::torch {

/// `launches` and `aten_ops` of a call, as the planner counted them, and the largest `registers`,
/// `spill_bytes` and `shared_bytes` of the plan's kernels. What is not told is left out.
std::map<std::string, double> figures_of(const Json& summary, std::string_view plan);

}  // namespace kernelsmith::torch
