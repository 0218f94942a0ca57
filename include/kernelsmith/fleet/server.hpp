// FleetServer: the address of the fleet's NATS server and our credentials for it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>

namespace kernelsmith {

/// A value. Only `url` may be printed or stored.
struct FleetServer {
  std::string url;                    ///< nats://HOST:PORT or tls://HOST:PORT, without user and password
  Secret user, password;              ///< without a password, `user` is a token
  std::filesystem::path credentials;  ///< a file with a JWT and its key (.creds); may be empty
  std::filesystem::path ca;           ///< a PEM file of the certificates that may sign the server's; if
                                      ///< empty, the system's

  /// Whether a connection sends a secret of this user to the server.
  bool has_secret() const { return !user.empty() || !credentials.empty(); }
};

/// Splits nats://[USER[:PASSWORD]@]HOST[:PORT], or the same with tls://, into its parts. The default port is
/// 4222. Errors: `invalid_argument`, with a message that omits the text before the @.
Result<FleetServer> parse_fleet_server(std::string_view url);

/// Whether this build can use a fleet at all. Errors: `unsupported` (built without libnats).
Status check_fleet_support();

}  // namespace kernelsmith
