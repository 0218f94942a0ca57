// Connection: one client's socket, from its first request to its end. A coroutine on a strand of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>

#include <kernelsmith/service/http_server.hpp>

#include "exchange.hpp"
#include "strict_parser.hpp"

namespace kernelsmith::http {

/// Data shared by all connections of a server.
struct Shared {
  Router router;
  ServerOptions options;
  bool loopback = true;  ///< the server listens on a loopback address
};

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;

/// Everything except start() and stop() runs on the strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `strand` is the socket's executor.
  Connection(boost::asio::ip::tcp::socket socket, Strand strand, std::shared_ptr<const Shared> shared);

  /// Serves until the connection ends, then calls `gone`. If `refused`, answers its first request with 503.
  void start(bool refused, std::function<void()> gone);

  /// Ends the connection after the current answer.
  void stop();

 private:
  using Parser = StrictParser;
  using Timer = std::shared_ptr<boost::asio::steady_timer>;
  template <class T = void>
  using Awaitable = boost::asio::awaitable<T>;

  Awaitable<> run(bool refused);
  Awaitable<bool> wait_for_bytes();
  Awaitable<bool> serve_one(bool refused);
  Awaitable<bool> read_body(Parser& parser);
  Awaitable<bool> dispatch(Request request, const Router::Route& route);
  Awaitable<bool> write(Response response);
  Awaitable<> write_events(std::shared_ptr<Exchange> exchange, Exchange::Taken taken);
  Awaitable<bool> write_chunk(std::string_view bytes);
  Awaitable<bool> fail_to_read(boost::system::error_code error);
  Awaitable<> drain();
  void watch_for_close();
  void tell_served(unsigned status) const;

  const Strand strand_;
  const std::shared_ptr<const Shared> shared_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;  ///< bounded; chunk extensions and trailers must also fit
  Timer wake_;                        ///< cancelled to wake the wait for an answer
  bool idle_ = false;                 ///< between two requests
  bool stopping_ = false;             ///< no further request
  bool watching_ = false;             ///< watching for the end of the client
  bool gone_ = false;                 ///< the client closed its side before it had its answer

  // For the current request.
  std::size_t body_limit_ = 0;
  bool unread_ = false;  ///< a part of it was not read, so no other can follow
  bool head_ = false;
  bool keep_alive_ = false;
  unsigned version_ = 11;
  std::string method_, route_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace kernelsmith::http
