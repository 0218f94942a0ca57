// Whether a server can be spoken to, found out without a call that costs anything.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/endpoint.hpp>

namespace kernelsmith {

/// What a server's list of models (GET BASE_URL/models, which all three protocols know) told.
struct ServerProbe {
  /// By name; empty if the server was reached and has no such list.
  std::optional<std::vector<std::string>> models;
  /// It gives the list to the key and to nobody without one.
  bool key_checked = false;
};

/// Asks once, or a second time without the key. Host and certificate are checked in each case. Blocks, for at
/// most the limits to connect and to the first token, and until `stop` is requested (`cancelled`). Errors:
/// check_endpoint's; `network`, `untrusted`, `timeout`, `permission` (the key is refused), `rate_limited`,
/// `server_failed`, `bad_reply` (a redirect).
Result<ServerProbe> probe_server(Endpoint endpoint, const CallLimits& limits = {},
                                 const std::stop_token& stop = {});

}  // namespace kernelsmith
