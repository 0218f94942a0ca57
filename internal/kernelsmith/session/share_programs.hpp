// For a process that runs many tasks: starts only once what does not depend on the task.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// From now on this registry's evaluators of the backend `torch` share their planners and already started GPU
/// processes, so that the second task does not wait for PyTorch. Costs two more idle processes on the GPU.
/// They end with the registry, its copies and the evaluators. `tell` as for tell_of_waiting().
void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
