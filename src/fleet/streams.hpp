// The fleet's streams, and its protocol: which worker and coordinator check first.
#pragma once

#include <stop_token>

#include "bus.hpp"

namespace kernelsmith::fleet {

/// Makes missing streams and checks that this fleet uses our protocol; the first process records it. Errors:
/// Bus's, and `version`.
Status join_fleet(Bus& bus, const std::stop_token& stop);

}  // namespace kernelsmith::fleet
