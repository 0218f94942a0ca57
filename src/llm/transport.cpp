#include "transport.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kernelsmith::llm {
namespace {

/// The size of a receive buffer: small, because each of a thousand streams has one.
constexpr long kBufferBytes = 16L << 10;

void initialise_libcurl() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (once != CURLE_OK) throw std::runtime_error("libcurl cannot be initialised");
}

/// The most records that are read in a row before other work gets its turn.
constexpr int kRecordsInARow = 64;

}  // namespace

class Transport::Exchange {
 public:
  Exchange(Transport& transport, HttpRequest request, HttpListener& listener)
      : transport_(transport), request_(std::move(request)), listener_(listener), easy_(curl_easy_init()) {
    if (!easy_) throw std::bad_alloc();
    for (const std::string& header : request_.headers) headers_ = curl_slist_append(headers_, header.c_str());
    configure();
  }

  ~Exchange() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  CURL* easy() const { return easy_; }
  Transport& transport() const { return transport_; }
  const std::shared_ptr<TlsConnection>& connection() const { return connection_; }
  void end(CURLcode code) {
    if (code == CURLE_SSL_CONNECT_ERROR && connection_->verdict != X509_V_OK)
      return listener_.on_end(CURLE_PEER_FAILED_VERIFICATION,
                              X509_verify_cert_error_string(connection_->verdict), false);
    listener_.on_end(code, error_[0] != '\0' ? error_.data() : curl_easy_strerror(code), is_sent());
  }

  /// Whether any of the body was sent. libcurl does not read the body if a proxy or a handshake fails.
  bool is_sent() const { return read_ > 0; }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    if (curl_easy_setopt(easy_, option, value) != CURLE_OK)
      throw std::runtime_error("libcurl lacks an option that the client needs");
  }

  void configure() {
    set(CURLOPT_URL, request_.url.c_str());
    set(CURLOPT_HTTPHEADER, headers_);
    if (request_.get) {
      set(CURLOPT_HTTPGET, 1L);
    } else {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
      set(CURLOPT_READFUNCTION, &Exchange::on_read);
      set(CURLOPT_READDATA, this);
      set(CURLOPT_SEEKFUNCTION, &Exchange::on_rewind);
    }
    set(CURLOPT_USERAGENT, "kernelsmith");
    set(CURLOPT_ACCEPT_ENCODING, "gzip");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_limit.count()));
    set(CURLOPT_BUFFERSIZE, kBufferBytes);
    set(CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
    if (!request_.use_proxy) set(CURLOPT_PROXY, "");
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's answer is not the server's
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSL_CTX_FUNCTION, &attach_connection);
    set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(&connection_));
    set(CURLOPT_OPENSOCKETFUNCTION, &Transport::on_open);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    set(CURLOPT_CLOSESOCKETFUNCTION, &Transport::on_close);
    set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&transport_));
    set(CURLOPT_SHARE, transport_.share_.get());
    // Sets no folder of CAs, because with one libcurl would parse the whole bundle again for each connection.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    if (!request_.ca_file.empty()) set(CURLOPT_CAINFO, request_.ca_file.c_str());
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
    set(CURLOPT_WRITEDATA, this);
  }

  static std::size_t on_read(char* out, std::size_t, std::size_t room, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    const std::size_t count = exchange.request_.body.copy(out, room, exchange.read_);
    exchange.read_ += count;
    return count;
  }
  /// Keeps libcurl from sending a request again by itself when a kept connection closes without an answer,
  /// because the server may already bill the first request.
  /// ClientFailure.ARequestOnAKeptConnectionIsNotSentAgainBehindTheClientsBack
  static int on_rewind(void*, curl_off_t, int) { return CURL_SEEKFUNC_FAIL; }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Exchange*>(self)->listener_.on_header({data, size}) ? size : 0;
  }
  /// Returns `size` to continue; any other number ends the exchange, also for an empty piece.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Exchange*>(self)->listener_.on_body({data, size}) ? size : size + 1;
  }

  Transport& transport_;
  HttpRequest request_;
  HttpListener& listener_;
  CURL* easy_;
  std::size_t read_ = 0;  ///< how many bytes of the body libcurl has read
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::shared_ptr<TlsConnection> connection_ = std::make_shared<TlsConnection>();
};

Transport::Transport(boost::asio::io_context& context, unsigned connections)
    : context_(context),
      sockets_(context, [this](curl_socket_t socket, int flags) { act_until_read(socket, flags); }),
      timer_(context) {
  initialise_libcurl();
  share_.reset(curl_share_init());
  multi_.reset(curl_multi_init());
  if (!multi_ || !share_) throw std::bad_alloc();
  curl_share_setopt(share_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  CURLM* const multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Transport::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Transport::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  // By default libcurl keeps four connections for each exchange in flight. When many exchanges end together,
  // it would close most connections, and the next calls would need new handshakes.
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
}

Transport::~Transport() {
  while (!exchanges_.empty()) cancel(exchanges_.begin()->second.get());
}

Transport::Exchange* Transport::start(HttpRequest request, HttpListener& listener) {
  auto exchange = std::make_unique<Exchange>(*this, std::move(request), listener);
  Exchange* const result = exchange.get();
  exchanges_.emplace(result->easy(), std::move(exchange));
  if (curl_multi_add_handle(multi_.get(), result->easy()) != CURLM_OK)
    throw std::runtime_error("libcurl accepts no further exchange");
  return result;
}

void Transport::cancel(Exchange* exchange) {
  curl_multi_remove_handle(multi_.get(), exchange->easy());
  exchanges_.erase(exchange->easy());
}

bool Transport::is_sent(const Exchange& exchange) { return exchange.is_sent(); }

curl_socket_t Transport::on_open(void* exchange, curlsocktype, curl_sockaddr* address) {
  const auto& opener = *static_cast<const Exchange*>(exchange);
  const int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (socket < 0) return CURL_SOCKET_BAD;
  Transport& transport = opener.transport();
  TlsConnection& connection = *opener.connection();
  connection.sockets.push_back(socket);
  connection.on_record = [&transport, &connection] {
    for (const curl_socket_t own : connection.sockets) transport.note_record(own);
  };
  transport.connections_.insert_or_assign(socket, opener.connection());
  return socket;
}

int Transport::on_close(void* self, curl_socket_t socket) {
  static_cast<Transport*>(self)->connections_.erase(socket);
  return close(socket);
}

int Transport::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  static_cast<Transport*>(self)->sockets_.watch(socket, what);
  return 0;
}

int Transport::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& transport = *static_cast<Transport*>(self);
  if (timeout_ms < 0) {
    transport.due_ = Clock::time_point::max();
  } else {
    transport.wait_until(Clock::now() + std::chrono::milliseconds(timeout_ms));
  }
  return 0;
}

/// libcurl changes this time with almost every exchange. Leaves a timer that fires earlier unchanged, because
/// setting it needs a system call.
void Transport::wait_until(Clock::time_point due) {
  due_ = due;
  if (armed_ <= due) return;
  armed_ = due;
  timer_.expires_at(due);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // an earlier time has replaced this one
    armed_ = Clock::time_point::max();
    const auto wanted = std::exchange(due_, Clock::time_point::max());
    if (wanted == Clock::time_point::max()) return;
    if (Clock::now() < wanted) return wait_until(wanted);
    act_until_read(CURL_SOCKET_TIMEOUT, 0);
  });
}

void Transport::act(curl_socket_t socket, int flags) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, flags, &running);
  report_ended();
}

bool Transport::holds_more(curl_socket_t socket) const {
  const auto found = connections_.find(socket);
  return found != connections_.end() && found->second->holds_more() && sockets_.reads(socket);
}

/// Calls libcurl until all records are read: libcurl takes one TLS record at a time, but OpenSSL may have
/// read several. Every call of libcurl also serves connections whose time is up, and may read from them.
/// Client.RecordsThatArriveTogetherAreAllRead
void Transport::act_until_read(curl_socket_t socket, int flags) {
  act(socket, flags);
  read_on();
}

void Transport::note_record(curl_socket_t socket) {
  if (std::ranges::find(with_records_, socket) == with_records_.end()) with_records_.push_back(socket);
}

void Transport::read_on() {
  for (int record = 1; !with_records_.empty();) {
    if (record == kRecordsInARow) {
      if (std::exchange(reads_on_, true)) return;
      return boost::asio::post(context_, [this] {
        reads_on_ = false;
        read_on();
      });
    }
    const curl_socket_t socket = with_records_.front();
    with_records_.pop_front();
    if (!holds_more(socket)) continue;
    note_record(socket);
    act(socket, CURL_CSELECT_IN);
    ++record;
  }
}

void Transport::report_ended() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto found = exchanges_.find(message->easy_handle);
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    exchanges_.erase(found);
    curl_multi_remove_handle(multi_.get(), exchange->easy());
    exchange->end(code);
  }
}

}  // namespace kernelsmith::llm
