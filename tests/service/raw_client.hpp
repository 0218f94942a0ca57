// A socket and nothing else: what the server does with bytes that no HTTP library would send.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kernelsmith {

/// Connected to a port of 127.0.0.1. Reads give up after 20 s. Not thread-safe.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// What the server closed meanwhile is no error: its answer can still be read.
  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Up to and with `end`, or all that comes before the connection ends.
  std::string read_until(std::string_view end) {
    std::size_t found;
    while ((found = rest_.find(end)) == std::string::npos)
      if (!read_more()) return take(rest_.size());
    return take(found + end.size());
  }

  /// All that comes before the connection ends.
  std::string read_all() {
    while (read_more()) {
    }
    return take(rest_.size());
  }

  /// One response: the header, and as many bytes as its Content-Length says.
  std::string read_response() {
    std::string header = read_until("\r\n\r\n");
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t at = header.find(kLength);
    const std::size_t length = at == header.npos ? 0 : std::stoul(header.substr(at + kLength.size()));
    while (rest_.size() < length && read_more()) {
    }
    return header + take(std::min(length, rest_.size()));
  }

 private:
  bool read_more() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) rest_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::string take(std::size_t length) {
    std::string taken = rest_.substr(0, length);
    rest_.erase(0, length);
    return taken;
  }

  int socket_;
  std::string rest_;
};

}  // namespace kernelsmith
