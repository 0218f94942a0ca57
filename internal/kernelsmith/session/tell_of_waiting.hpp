// Evaluators wait for the memory of a GPU, or for a fleet's server: whoever runs them for a person says so.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// Evaluators that this registry makes from now on tell for whom they wait, and why the server of their fleet
/// gives no answer, once each time. `tell` is called on any thread.
void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
