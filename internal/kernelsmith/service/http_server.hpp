// Server: a small HTTP/1.1 server for a few hundred clients of one machine or one cluster. No TLS: put it
// behind a proxy or a tunnel if the network is not trusted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/service/router.hpp>

namespace kernelsmith::http {

/// Whether a request may reach its handler. Thread-safe.
using Guard = std::function<bool(const Request&)>;

/// Admits requests with the header "Authorization: Bearer TOKEN". Also admits Basic authentication with any
/// user and the token as the password, so that a client can use http://any:TOKEN@host. The comparison takes
/// constant time.
Guard bearer_guard(Secret token);

/// An answered request, for counters.
struct Served {
  std::string method;
  std::string route;  ///< pattern of its route; empty if none matches
  unsigned status = 0;
  double seconds = 0;  ///< from the complete request to the complete answer
};

/// Where a server listens, and its limits.
struct ServerOptions {
  std::string host = "127.0.0.1";  ///< a name or an address of this machine
  std::uint16_t port = 0;          ///< if 0, a free port is used: see Server::port()
  unsigned threads = 2;

  std::size_t max_body_bytes = std::size_t{1} << 20;     ///< larger requests get 413
  std::size_t max_header_bytes = std::size_t{16} << 10;  ///< including the request line; larger ones get 431
  std::size_t max_connections = 2048;                    ///< further ones get 503 and are closed
  std::chrono::milliseconds idle_timeout{60'000};        ///< idle time of a connection between two requests
  std::chrono::milliseconds request_timeout{30'000};     ///< for reading a request, and for writing an answer
  std::chrono::milliseconds heartbeat{10'000};           ///< time between two comments on a stream of events
  std::chrono::milliseconds stop_grace{5'000};           ///< how long stop() waits for answers under way

  Guard guard;  ///< if empty, everybody is admitted

  /// Further names that the Host header may have if `host` is a loopback address. Names other than these and
  /// the machine's own get 403, because a foreign page may have made a local browser send the request (DNS
  /// rebinding).
  std::vector<std::string> allowed_hosts;

  std::function<void(const Served&)> on_served;  ///< called on the server's threads; must not throw
};

/// Serves from start() to stop(). Thread-safe.
///
/// A request whose Origin and Host headers name different hosts gets 403, because a foreign page sent it.
/// Requests of one connection are answered one after another.
class Server {
 public:
  /// Begins to listen. Errors: `invalid_argument` for a host that is not an address of this machine, `busy`
  /// for a port in use, `permission`, `io`.
  static Result<std::unique_ptr<Server>> start(Router router, ServerOptions options);

  /// Calls stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  std::string url() const;  ///< "http://127.0.0.1:10907"

  /// Accepts no more connections, ends streams and idle connections, waits at most the grace time for
  /// requests that are under way, and then closes the rest. A handler must not call it. It may be called
  /// again.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith::http
