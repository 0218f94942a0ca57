// Reports to people when evaluators wait for the memory of a GPU or for a fleet's server.
#pragma once

#include <functional>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// From now on evaluators of this registry report for whom they wait, and why the server of their fleet does
/// not answer, once each time. `tell` is called on any thread.
void tell_of_waiting(Registry& registry, const std::function<void(const std::string&)>& tell);

}  // namespace kernelsmith
