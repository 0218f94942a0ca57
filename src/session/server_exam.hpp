// A dry run's checks of a server of models, without paid calls.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/endpoint.hpp>
#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// The checks `server`, `key` and `model`, one for each of `models`. Blocks until the server has answered.
std::vector<DryCheck> examine_server(const Endpoint& server, CallLimits limits,
                                     const std::vector<std::string>& models, const std::stop_token& stop);

}  // namespace kernelsmith
