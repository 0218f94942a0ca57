// Combines the sockets of libcurl into one descriptor for Asio.
#pragma once

#include <functional>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <curl/curl.h>

namespace kernelsmith::llm {

/// Watches libcurl's sockets with a separate, level-triggered epoll instance, which reports many sockets at
/// once. Asio would need a system call after each event to re-arm the socket. Used by the thread that runs
/// the io_context, except for the constructor.
class SocketSet {
 public:
  /// Called with a socket and CURL_CSELECT flags; rarely also for a socket that was just removed.
  using Ready = std::function<void(curl_socket_t, int flags)>;

  SocketSet(boost::asio::io_context& context, Ready ready);

  /// `what` is CURL_POLL_IN, _OUT, _INOUT, or _REMOVE.
  void watch(curl_socket_t socket, int what);

  /// Whether the socket is watched for reading.
  bool reads(curl_socket_t socket) const;

 private:
  void wait();
  void take();

  Ready ready_;
  std::unordered_map<curl_socket_t, int> watched_;
  boost::asio::posix::stream_descriptor epoll_;
};

}  // namespace kernelsmith::llm
