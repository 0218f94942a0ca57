// Checks without a paid call whether a server is usable.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/endpoint.hpp>

namespace kernelsmith {

/// The result of a server's list of models (GET BASE_URL/models, which all three protocols have).
struct ServerProbe {
  /// The names of the models; empty if the server was reached and has no such list.
  std::optional<std::vector<std::string>> models;
  /// The server gives the list only to those who send the key.
  bool key_checked = false;
};

/// Asks once, or twice; the second time without the key. Host and certificate are checked each time. Blocks
/// at most for the time limits to connect and to the first token, or until `stop` is requested (`cancelled`).
/// Errors: check_endpoint's; `network`, `untrusted`, `timeout`, `permission` (the key is refused),
/// `rate_limited`, `server_failed`, `bad_reply` (a redirect).
Result<ServerProbe> probe_server(Endpoint endpoint, const CallLimits& limits = {},
                                 const std::stop_token& stop = {});

}  // namespace kernelsmith
