// HTTP exchanges over libcurl's multi interface, which Asio tells when sockets are ready and when time is up.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <curl/curl.h>

namespace kernelsmith::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"; may hold the key
  std::string body;                  ///< of a POST
  bool get = false;                  ///< a GET in its place
  std::string ca_file;
  bool use_proxy = true;
  std::chrono::milliseconds connect_limit{0};
};

/// Told of one exchange, in order, on the transport's thread.
class HttpListener {
 public:
  virtual ~HttpListener() = default;
  /// A line of the head, the status line included. False ends the exchange; nothing else may be done to it
  /// from within.
  virtual bool on_header(std::string_view line) = 0;
  /// A piece of the body, decompressed. As on_header.
  virtual bool on_body(std::string_view bytes) = 0;
  /// The end; `detail` is libcurl's own words. The exchange is gone.
  virtual void on_end(CURLcode code, std::string detail) = 0;
};

/// Used by the thread that runs the io_context only, except for the constructor.
class Transport {
 public:
  class Exchange;

  /// Keeps up to `connections` open for further exchanges.
  Transport(boost::asio::io_context& context, unsigned connections);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Begins an exchange; `listener` must live until on_end() or cancel().
  Exchange* start(HttpRequest request, HttpListener& listener);

  /// Ends it without on_end(). Not from within on_header() and on_body().
  void cancel(Exchange* exchange);

 private:
  struct Watch;

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);

  void watch(curl_socket_t socket, int what);
  void wait(const std::shared_ptr<Watch>& watch, int flag);
  void act(curl_socket_t socket, int flags);
  void report_ended();

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  std::uint64_t timer_epoch_ = 0;  ///< tells an expiry that was replaced
  CURLM* multi_;
  std::map<curl_socket_t, std::shared_ptr<Watch>> watches_;
  std::map<CURL*, std::unique_ptr<Exchange>> exchanges_;
};

}  // namespace kernelsmith::llm
