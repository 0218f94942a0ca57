// References to the URL of a fleet's server.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {

/// Whether the text refers to a URL, or to parts of it, instead of being one: `file:PATH`, or ${NAME} for
/// environment variables.
bool is_kept_elsewhere(std::string_view nats);

/// Reads the server from a URL or a reference to one. Errors: those of expand_variables(), read_text_file()
/// and parse_fleet_server().
Result<FleetServer> read_fleet_url(const std::string& nats);

}  // namespace kernelsmith
