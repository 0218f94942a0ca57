// The fleet's streams, and its protocol: what worker and coordinator make sure of before anything else.
#pragma once

#include <stop_token>

#include "bus.hpp"

namespace kernelsmith::fleet {

/// Makes the streams that are not there and checks that this fleet speaks our protocol; the first to come
/// writes it down. Errors: Bus's, and `version`.
Status join_fleet(Bus& bus, const std::stop_token& stop);

}  // namespace kernelsmith::fleet
