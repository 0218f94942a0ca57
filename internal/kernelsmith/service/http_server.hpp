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

/// Admits requests with the header "Authorization: Bearer TOKEN", and those of Basic authentication whose
/// password is the token, whatever the user: a client that takes nothing but a URL has http://any:TOKEN@host.
/// Compared in constant time.
Guard bearer_guard(Secret token);

/// A request that was answered, for counters.
struct Served {
  std::string method;
  std::string route;  ///< its pattern; empty if none fits
  unsigned status = 0;
  double seconds = 0;  ///< from the whole request to the whole answer
};

/// Where a server listens, and its limits.
struct ServerOptions {
  std::string host = "127.0.0.1";  ///< a name or an address of this machine
  std::uint16_t port = 0;          ///< 0: a free one, which Server::port() gives
  unsigned threads = 2;

  std::size_t max_body_bytes = std::size_t{1} << 20;     ///< beyond: 413
  std::size_t max_header_bytes = std::size_t{16} << 10;  ///< with the request line; beyond: 431
  std::size_t max_connections = 2048;                    ///< beyond: 503, and the connection is closed
  std::chrono::milliseconds idle_timeout{60'000};        ///< of a connection between two requests
  std::chrono::milliseconds request_timeout{30'000};     ///< of reading a request, and of writing an answer
  std::chrono::milliseconds heartbeat{10'000};           ///< between comments on a stream of events
  std::chrono::milliseconds stop_grace{5'000};           ///< how long stop() waits for answers under way

  Guard guard;  ///< empty: everybody is admitted

  /// Names that the Host header may hold beside this machine's own, if `host` is a loopback address:
  /// others are answered 403, because a page of theirs got a browser of this machine to ask (DNS rebinding).
  std::vector<std::string> allowed_hosts;

  std::function<void(const Served&)> on_served;  ///< called on the server's threads; must not throw
};

/// Serves from start() to stop(). Thread-safe.
///
/// A request whose Origin header names another host than its Host header is answered 403: it was sent by a
/// page of somebody else's. Requests of one connection are answered one after another.
class Server {
 public:
  /// Listens. Errors: `invalid_argument` for a host that is no address here, `busy` for a port in use,
  /// `permission`, `io`.
  static Result<std::unique_ptr<Server>> start(Router router, ServerOptions options);

  /// stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  std::string url() const;  ///< "http://127.0.0.1:10907"

  /// Takes no more connections, ends streams and idle connections, waits for requests under way at most for
  /// the grace time, and cuts off what is left then. Not to be called by a handler. Idempotent.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith::http
