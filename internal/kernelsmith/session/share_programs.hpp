// For whoever runs a registry's evaluators for a person, or many tasks by one process.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// Evaluators that this registry makes from now on tell for whom they wait, such as the memory of a GPU, and
/// why the server of their fleet gives no answer, once each time. `tell` is called on any thread.
void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell);

/// What does not depend on the task is started once: from now on evaluators of the backend `torch` that this
/// registry's providers make share their planners, and find the processes of the GPU started: the second task
/// is prepared without waiting for PyTorch. Costs two more idle processes on the GPU. They end with the
/// registry, its copies and the evaluators. `tell` as for tell_of_waiting().
void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
