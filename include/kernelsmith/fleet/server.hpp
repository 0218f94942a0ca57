// FleetServer: where the fleet's NATS server is, and what proves to it who we are.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>

namespace kernelsmith {

/// A value. Only `url` may be printed or stored.
struct FleetServer {
  std::string url;                    ///< nats://HOST:PORT or tls://HOST:PORT; no user, no password
  Secret user, password;              ///< a user without a password is a token
  std::filesystem::path credentials;  ///< a file with a JWT and its key (.creds); empty: none
  std::filesystem::path ca;           ///< certificates that may sign the server's (PEM); empty: the system's

  /// Whether connecting shows the server something that only this user has.
  bool has_secret() const { return !user.empty() || !credentials.empty(); }
};

/// The parts of nats://[USER[:PASSWORD]@]HOST[:PORT], or tls://; the port is 4222 where none is named.
/// Errors: `invalid_argument`, in words that do not hold what stands before the @.
Result<FleetServer> parse_fleet_server(std::string_view url);

/// Whether this build can use a fleet at all. Errors: `unsupported` (built without libnats).
Status check_fleet_support();

}  // namespace kernelsmith
