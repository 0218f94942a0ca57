// HTTP exchanges over libcurl's multi interface, driven by Asio's events for sockets and timers.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <curl/curl.h>

#include "socket_set.hpp"
#include "tls_connection.hpp"

namespace kernelsmith::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"; may hold the key
  std::string body;                  ///< the body of a POST
  bool get = false;                  ///< whether to send a GET instead
  std::string ca_file;
  bool use_proxy = true;
  std::chrono::milliseconds connect_limit{0};
};

/// Gets the events of one exchange, in order, on the transport's thread.
class HttpListener {
 public:
  virtual ~HttpListener() = default;
  /// Called with each line of the head, including the status line. Returning false ends the exchange; the
  /// listener must not change the exchange in any other way.
  virtual bool on_header(std::string_view line) = 0;
  /// Called with each decompressed piece of the body. Returning false ends the exchange, as in on_header().
  virtual bool on_body(std::string_view bytes) = 0;
  /// Called at the end, when the exchange no longer exists. `detail` is libcurl's message; `sent` says
  /// whether any of a POST's body was sent.
  virtual void on_end(CURLcode code, std::string detail, bool sent) = 0;
};

/// Used only by the thread that runs the io_context, except for the constructor.
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

  /// Whether any of a POST's body was sent.
  static bool is_sent(const Exchange& exchange);

  /// Ends the exchange without on_end(). Must not be called from on_header() or on_body().
  void cancel(Exchange* exchange);

 private:
  template <auto kFree>
  struct Freed {
    void operator()(auto* handle) const { kFree(handle); }
  };
  using Clock = std::chrono::steady_clock;

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);
  static curl_socket_t on_open(void* exchange, curlsocktype, curl_sockaddr* address);
  static int on_close(void* self, curl_socket_t socket);

  void act(curl_socket_t socket, int flags);
  void act_until_read(curl_socket_t socket, int flags);
  void note_record(curl_socket_t socket);
  void read_on();
  bool holds_more(curl_socket_t socket) const;
  void wait_until(Clock::time_point due);
  void report_ended();

  boost::asio::io_context& context_;
  SocketSet sockets_;
  boost::asio::steady_timer timer_;
  Clock::time_point due_ = Clock::time_point::max();    ///< time at which libcurl wants to be called
  Clock::time_point armed_ = Clock::time_point::max();  ///< time at which the timer fires
  std::map<curl_socket_t, std::shared_ptr<TlsConnection>> connections_;
  /// Sockets that may have more data, each listed once. A socket may have been closed since.
  std::deque<curl_socket_t> with_records_;
  bool reads_on_ = false;  ///< whether read_on() will continue after other work
  std::unique_ptr<CURLSH, Freed<&curl_share_cleanup>>
      share_;  ///< TLS sessions, so that a new connection resumes an older one's
  std::map<CURL*, std::unique_ptr<Exchange>> exchanges_;
  std::unique_ptr<CURLM, Freed<&curl_multi_cleanup>> multi_;
};

}  // namespace kernelsmith::llm
