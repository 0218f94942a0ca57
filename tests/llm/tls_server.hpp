// A scripted HTTPS server on 127.0.0.1: what it answers, byte for byte, is the test's business.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

#include "certificates.hpp"

namespace kernelsmith {

struct ServerRequest {
  std::size_t number = 0;  ///< counts from 0 over all connections
  std::string head;        ///< request line and header lines
  std::string body;
};

/// One client's connection, used by the handler on a thread of its own.
class ServerConnection {
 public:
  virtual ~ServerConnection() = default;

  /// False if the client has gone.
  virtual bool send(std::string_view bytes) = 0;

  /// Blocks until the client closes, or the server is destroyed.
  virtual void stall() = 0;

  /// Closes with a TCP reset and ends the handler's connection.
  virtual void reset() = 0;
};

/// Answers each request by calling `handler`, on one thread a connection. Connections are kept alive until
/// the client or the handler ends them; a handler that leaves the answer unfinished returns false to close.
class TlsServer {
 public:
  using Handler = std::function<bool(const ServerRequest&, ServerConnection&)>;

  TlsServer(const Identity& identity, Handler handler, bool http2 = false);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string url() const;  ///< "https://127.0.0.1:PORT"
  std::size_t requests() const { return requests_; }
  std::size_t connections() const { return connections_; }  ///< those that failed included
  std::size_t resumed() const { return resumed_; }  ///< connections with the TLS session of an older one

 private:
  void accept_all();
  void serve(int socket);
  void serve_http1(class Link& link);
  void serve_http2(class Link& link);

  Handler handler_;
  bool http2_;
  SSL_CTX* context_;
  int listener_;
  int stop_[2];  ///< a pipe: closing its end wakes every thread
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> requests_ = 0, connections_ = 0, resumed_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;  ///< guarded by mutex_
  std::thread acceptor_;
};

/// An HTTP/1.1 answer with a length.
std::string http_answer(int status, std::string_view body, std::string_view headers = "",
                        std::string_view type = "application/json");

/// The head of a chunked event stream, one chunk of it, and its end.
std::string stream_head();
std::string chunk(std::string_view bytes);
std::string last_chunk();

}  // namespace kernelsmith
