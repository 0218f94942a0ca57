// For whoever has many tasks done by one process: what does not depend on the task is started once.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// From now on evaluators of the backend `torch` that this registry's providers make share their planners,
/// and find the processes of the GPU started: the second task is prepared without waiting for PyTorch. Costs
/// two more idle processes on the GPU. They end with the registry, its copies and the evaluators. `tell` as
/// for tell_of_waiting().
void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
