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
  Secret user, password;              ///< a user without a password is a token
  std::filesystem::path credentials;  ///< a file with a JWT and its key (.creds); empty: none
  std::filesystem::path ca;           ///< certificates that may sign the server's (PEM); empty: the system's

  /// Whether a connection shows the server a secret of this user.
  bool has_secret() const { return !user.empty() || !credentials.empty(); }
};

/// The parts of nats://[USER[:PASSWORD]@]HOST[:PORT], or tls://; the default port is 4222. Errors:
/// `invalid_argument`; the message omits the text before the @.
Result<FleetServer> parse_fleet_server(std::string_view url);

/// Whether this build can use a fleet at all. Errors: `unsupported` (built without libnats).
Status check_fleet_support();

}  // namespace kernelsmith
