#include "tls_server.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kernelsmith {

/// TLS over one socket; blocking, but every wait also ends when the server stops.
class Link final : public ServerConnection {
 public:
  Link(SSL_CTX* context, int socket, int stop) : ssl_(SSL_new(context)), socket_(socket), stop_(stop) {
    SSL_set_fd(ssl_, socket);
    open_ = drive([this] { return SSL_accept(ssl_); }) > 0;
  }
  bool resumed() const { return SSL_session_reused(ssl_) == 1; }
  ~Link() override {
    SSL_free(ssl_);
    close(socket_);
    ERR_clear_error();
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool open() const { return open_; }

  bool send(std::string_view bytes) override {
    while (open_ && !bytes.empty()) {
      const int sent = drive([&] { return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())); });
      if (sent <= 0) return open_ = false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return open_;
  }

  /// Empty at the end of the connection.
  std::string receive() {
    std::array<char, 16 * 1024> buffer;
    const int got = open_ ? drive([&] { return SSL_read(ssl_, buffer.data(), buffer.size()); }) : 0;
    if (got > 0) return {buffer.data(), static_cast<std::size_t>(got)};
    open_ = false;
    return {};
  }

  void stall() override {
    while (!receive().empty()) {
    }
  }

  void reset() override {
    const linger at_once{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    open_ = false;
  }

  bool speaks_http2() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
  }

 private:
  template <class Step>
  int drive(const Step& step) {
    for (;;) {
      ERR_clear_error();
      const int result = step();
      if (result > 0) return result;
      const int why = SSL_get_error(ssl_, result);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return result;
      pollfd waits[] = {{socket_, static_cast<short>(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT), 0},
                        {stop_, POLLIN, 0}};
      if (poll(waits, 2, -1) < 0 || waits[1].revents != 0) return 0;
    }
  }

  SSL* ssl_;
  int socket_;
  int stop_;
  bool open_ = false;
};

namespace {

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void* http2) {
  static constexpr unsigned char kBoth[] = "\x02h2\x08http/1.1";
  const unsigned char* ours = *static_cast<bool*>(http2) ? kBoth : kBoth + 3;
  const unsigned size = *static_cast<bool*>(http2) ? 12 : 9;
  return SSL_select_next_proto(const_cast<unsigned char**>(out), out_size, ours, size, in, in_size) ==
                 OPENSSL_NPN_NEGOTIATED
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_NOACK;
}

std::size_t content_length(const std::string& head) {
  const auto at = head.find("Content-Length: ");
  return at == head.npos ? 0 : std::strtoull(head.c_str() + at + 16, nullptr, 10);
}

}  // namespace

TlsServer::TlsServer(const Identity& identity, Handler handler, bool http2)
    : handler_(std::move(handler)), http2_(http2), context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX_use_certificate(context_, identity.certificate.get());
  SSL_CTX_use_PrivateKey(context_, identity.key.get());
  SSL_CTX_set_alpn_select_cb(context_, choose_protocol, &http2_);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (pipe(stop_) != 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 4096) != 0)
    throw std::runtime_error("the test's server cannot listen");
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

TlsServer::~TlsServer() {
  close(stop_[1]);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
  close(stop_[0]);
  SSL_CTX_free(context_);
}

std::string TlsServer::url() const { return "https://127.0.0.1:" + std::to_string(port_); }

void TlsServer::accept_all() {
  sigset_t broken_pipes;
  sigemptyset(&broken_pipes);
  sigaddset(&broken_pipes, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);  // for the connections' threads, too
  for (;;) {
    pollfd waits[] = {{listener_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 || waits[1].revents != 0) return;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) continue;
    ++connections_;
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, client] { serve(client); });
  }
}

void TlsServer::serve(int socket) {
  Link link(context_, socket, stop_[0]);
  if (link.resumed()) ++resumed_;
  if (!link.open()) return;
  if (link.speaks_http2())
    serve_http2(link);
  else
    serve_http1(link);
}

void TlsServer::serve_http1(Link& link) {
  std::string bytes;
  for (;;) {
    std::size_t end;
    while ((end = bytes.find("\r\n\r\n")) == bytes.npos) {
      const std::string more = link.receive();
      if (more.empty()) return;
      bytes += more;
    }
    ServerRequest request;
    request.head = bytes.substr(0, end + 2);
    bytes.erase(0, end + 4);
    const std::size_t length = content_length(request.head);
    while (bytes.size() < length) {
      const std::string more = link.receive();
      if (more.empty()) return;
      bytes += more;
    }
    request.body = bytes.substr(0, length);
    bytes.erase(0, length);
    request.number = requests_++;
    if (!handler_(request, link)) return;
  }
}

namespace {

/// What a handler sends within one HTTP/2 stream: an HTTP/1.1 answer with a length, of which status, content
/// type and body are kept.
class Collector final : public ServerConnection {
 public:
  explicit Collector(Link& link) : link_(link) {}
  bool send(std::string_view bytes) override {
    sent += bytes;
    return true;
  }
  void stall() override { link_.stall(); }
  void reset() override { link_.reset(); }
  std::string sent;

 private:
  Link& link_;
};

struct Http2Session {
  TlsServer::Handler handler;
  std::atomic<std::size_t>* requests;
  Link* link;
  std::map<std::int32_t, ServerRequest> open;
  std::map<std::int32_t, std::string> answers;
};

nghttp2_nv pair_of(const char* name, const std::string& value) {
  const auto octets = [](const char* text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text));
  };
  return {octets(name), octets(value.c_str()), std::strlen(name), value.size(), NGHTTP2_NV_FLAG_NONE};
}

ssize_t read_answer(nghttp2_session*, std::int32_t stream, std::uint8_t* buffer, std::size_t size,
                    std::uint32_t* flags, nghttp2_data_source*, void* user) {
  std::string& answer = static_cast<Http2Session*>(user)->answers[stream];
  const std::size_t part = std::min(size, answer.size());
  std::memcpy(buffer, answer.data(), part);
  answer.erase(0, part);
  if (answer.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(part);
}

int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data, std::size_t size,
            void* user) {
  static_cast<Http2Session*>(user)->open[stream].body.append(reinterpret_cast<const char*>(data), size);
  return 0;
}

int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  const bool may_end_a_request = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  if (!may_end_a_request || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
  auto& self = *static_cast<Http2Session*>(user);
  const std::int32_t stream = frame->hd.stream_id;
  ServerRequest request = std::move(self.open[stream]);
  request.number = (*self.requests)++;
  Collector collector(*self.link);
  self.handler(request, collector);
  const std::string& sent = collector.sent;
  const std::string status = sent.substr(9, 3);
  const auto type_at = sent.find("Content-Type: ") + 14;
  const std::string type = sent.substr(type_at, sent.find("\r\n", type_at) - type_at);
  self.answers[stream] = sent.substr(sent.find("\r\n\r\n") + 4);
  const nghttp2_nv headers[] = {pair_of(":status", status), pair_of("content-type", type)};
  nghttp2_data_provider provider{{0}, read_answer};
  nghttp2_submit_response(session, stream, headers, 2, &provider);
  return 0;
}

}  // namespace

void TlsServer::serve_http2(Link& link) {
  Http2Session state{handler_, &requests_, &link, {}, {}};
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, &state);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  for (bool open = true; open;) {
    const std::uint8_t* out = nullptr;
    while (const ssize_t size = nghttp2_session_mem_send(session, &out))
      if (size < 0 || !link.send({reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)})) break;
    const std::string bytes = link.receive();
    open = !bytes.empty() &&
           nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  }
  nghttp2_session_del(session);
  nghttp2_session_callbacks_del(callbacks);
}

std::string http_answer(int status, std::string_view body, std::string_view headers, std::string_view type) {
  std::string answer = "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: ";
  answer.append(type).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
  return answer.append(headers).append("\r\n").append(body);
}

std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return std::string(size).append(bytes).append("\r\n");
}

std::string last_chunk() { return "0\r\n\r\n"; }

}  // namespace kernelsmith
