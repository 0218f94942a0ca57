#include <algorithm>

#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kForm = "nats://HOST:4222, or tls://HOST:4222";

Error wrong(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message), "NATS URL", kForm);
}

/// Decodes codes such as %40, which stand for special characters in passwords.
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_code = text[at] == '%' && at + 2 < text.size();
    const auto byte = is_code ? number_in<unsigned char>(text.substr(at + 1, 2), 16) : std::nullopt;
    plain += byte ? static_cast<char>(*byte) : text[at];
    if (byte) at += 2;
  }
  return plain;
}

bool is_host(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
  });
}

bool is_port(std::string_view port) {
  const auto number = number_in<unsigned>(port);
  return number && *number >= 1 && *number <= 65535;
}

}  // namespace

Result<FleetServer> parse_fleet_server(std::string_view url) {
  FleetServer server;
  const std::size_t scheme_end = url.find("://");
  const std::string_view scheme = url.substr(0, scheme_end == url.npos ? 0 : scheme_end);
  if (scheme != "nats" && scheme != "tls") return wrong("this is not the URL of a NATS server");
  std::string_view rest = url.substr(scheme_end + 3);
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    const std::string_view who = rest.substr(0, at);
    const std::size_t colon = who.find(':');
    server.user = Secret(decoded(who.substr(0, colon)));
    if (colon != who.npos) server.password = Secret(decoded(who.substr(colon + 1)));
    if (server.user.empty()) return wrong("the user before the @ is empty");
    rest.remove_prefix(at + 1);
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::size_t colon = rest.rfind(':');
  if (colon != rest.npos && rest.find(']', colon) != rest.npos) colon = rest.npos;  // within [::1]
  const std::string_view host = rest.substr(0, colon);
  const std::string_view port = colon == rest.npos ? "4222" : rest.substr(colon + 1);
  if (!is_host(host)) return wrong("the URL has no host name");
  if (!is_port(port)) return wrong("the port is not a number from 1 to 65535");
  server.url = std::string(scheme) + "://" + std::string(host) + ":" + std::string(port);
  return server;
}

}  // namespace kernelsmith
