// Changes a registry for programs that evaluate for a person, or that evaluate many tasks in one process.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// Evaluators that this registry makes from now on report what they wait for, such as the memory of a GPU,
/// and why the server of their fleet gives no answer. They report once for each wait. `tell` is called on any
/// thread.
void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell);

/// Lets evaluators start only once what does not depend on the task. Evaluators of the backend `torch` that
/// this registry's providers make from now on share their planners and the processes that use the GPU. So the
/// second task is prepared without waiting for PyTorch. This costs two more idle processes on the GPU. They
/// end with the registry, its copies and the evaluators. `tell` is as for tell_of_waiting().
void share_programs(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
