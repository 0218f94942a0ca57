// Where the URL of a fleet's server stands.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {

/// Whether the text is no URL, but says where one is, or parts of it: `file:PATH`, or ${NAME} for environment
/// variables.
bool is_kept_elsewhere(std::string_view nats);

/// Errors: those of expand_variables(), read_text_file() and parse_fleet_server().
Result<FleetServer> read_fleet_url(const std::string& nats);

}  // namespace kernelsmith
