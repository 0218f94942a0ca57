// Access checks before any handler.
#pragma once

#include <string_view>
#include <vector>

#include <kernelsmith/service/http_message.hpp>

namespace kernelsmith::http {

/// Whether two texts are equal, in a time that depends only on the length of `given`.
bool equal_in_constant_time(std::string_view secret, std::string_view given);

/// The host of "host", "host:port" or "[v6]:port", without port and brackets.
std::string_view host_without_port(std::string_view host);

/// Whether the name always means this machine: localhost, 127.0.0.0/8, ::1.
bool is_loopback_name(std::string_view host);

/// Whether a page of another site made a browser send the request. A request without Host or Origin is not
/// from a browser. `loopback`: the server listens on a loopback address, so that Host may only be its names
/// and `allowed`.
bool is_cross_site(const Request& request, bool loopback, const std::vector<std::string>& allowed);

}  // namespace kernelsmith::http
