#include "transport.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <openssl/ssl.h>

namespace kernelsmith::llm {
namespace {

/// Small, because a thousand streams hold one each.
constexpr long kBufferBytes = 16L << 10;

void initialise_libcurl() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (once != CURLE_OK) throw std::runtime_error("libcurl cannot be initialised");
}

/// Why a certificate was refused: X509_V_OK, or OpenSSL's reason. libcurl tells a certificate whose signature
/// is wrong only as a handshake that failed. Shared by an exchange and the TLS context of a connection that
/// it opens, which can outlive it.
using Verdict = std::shared_ptr<int>;

/// Where a TLS context keeps its Verdict.
int verdict_slot() {
  static const int slot = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* verdict, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<Verdict*>(verdict); });
  return slot;
}

/// OpenSSL's own decision stands; it is only written down.
int note_verdict(int accepted, X509_STORE_CTX* chain) {
  if (accepted != 0) return accepted;
  const auto* ssl =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* verdict =
      static_cast<const Verdict*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), verdict_slot()));
  **verdict = X509_STORE_CTX_get_error(chain);
  return accepted;
}

CURLcode watch_verdict(CURL*, void* context, void* verdict) {
  auto* tls = static_cast<SSL_CTX*>(context);
  // Freed with the context.
  if (auto* kept = new Verdict(*static_cast<const Verdict*>(verdict));
      SSL_CTX_set_ex_data(tls, verdict_slot(), kept) != 1) {
    delete kept;
    return CURLE_OUT_OF_MEMORY;
  }
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, &note_verdict);
  return CURLE_OK;
}

}  // namespace

/// A socket of libcurl's, borrowed: it is released, never closed.
struct Transport::Watch {
  Watch(boost::asio::io_context& context, curl_socket_t socket) : descriptor(context, socket) {}

  boost::asio::posix::stream_descriptor descriptor;
  int wanted = 0;   ///< CURL_POLL_IN, CURL_POLL_OUT
  int waiting = 0;  ///< flags with a wait in flight
  bool gone = false;
};

class Transport::Exchange {
 public:
  Exchange(HttpRequest request, HttpListener& listener)
      : request_(std::move(request)), listener_(listener), easy_(curl_easy_init()) {
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
  void end(CURLcode code) {
    if (code == CURLE_SSL_CONNECT_ERROR && *verdict_ != X509_V_OK)
      return listener_.on_end(CURLE_PEER_FAILED_VERIFICATION, X509_verify_cert_error_string(*verdict_));
    listener_.on_end(code, error_[0] != '\0' ? error_.data() : curl_easy_strerror(code));
  }

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
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
      set(CURLOPT_POSTFIELDS, request_.body.data());
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
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSL_CTX_FUNCTION, &watch_verdict);
    set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(&verdict_));
    // With a folder of CAs libcurl would parse the whole bundle anew for each connection.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    if (!request_.ca_file.empty()) set(CURLOPT_CAINFO, request_.ca_file.c_str());
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
    set(CURLOPT_WRITEDATA, this);
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Exchange*>(self)->listener_.on_header({data, size}) ? size : 0;
  }
  /// Any other number than `size` ends the exchange; for an empty piece that is 1.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Exchange*>(self)->listener_.on_body({data, size}) ? size : size + 1;
  }

  HttpRequest request_;
  HttpListener& listener_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  Verdict verdict_ = std::make_shared<int>(X509_V_OK);
};

Transport::Transport(boost::asio::io_context& context, unsigned connections)
    : context_(context), timer_(context) {
  initialise_libcurl();
  multi_ = curl_multi_init();
  if (!multi_) throw std::bad_alloc();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Transport::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Transport::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  // By default libcurl keeps four for each exchange in flight: when many end together it would close most of
  // them, and the next calls would pay for their handshakes.
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
}

Transport::~Transport() {
  while (!exchanges_.empty()) cancel(exchanges_.begin()->second.get());
  curl_multi_cleanup(multi_);
}

Transport::Exchange* Transport::start(HttpRequest request, HttpListener& listener) {
  auto exchange = std::make_unique<Exchange>(std::move(request), listener);
  Exchange* const result = exchange.get();
  exchanges_.emplace(result->easy(), std::move(exchange));
  if (curl_multi_add_handle(multi_, result->easy()) != CURLM_OK)
    throw std::runtime_error("libcurl takes no further exchange");
  return result;
}

void Transport::cancel(Exchange* exchange) {
  curl_multi_remove_handle(multi_, exchange->easy());
  exchanges_.erase(exchange->easy());
}

int Transport::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  static_cast<Transport*>(self)->watch(socket, what);
  return 0;
}

void Transport::watch(curl_socket_t socket, int what) {
  if (what == CURL_POLL_REMOVE) {
    const auto found = watches_.find(socket);
    if (found == watches_.end()) return;
    found->second->gone = true;
    found->second->descriptor.release();
    watches_.erase(found);
    return;
  }
  auto& watch = watches_[socket];
  if (!watch) watch = std::make_shared<Watch>(context_, socket);
  watch->wanted = what;
  for (const int flag : {CURL_POLL_IN, CURL_POLL_OUT})
    if ((watch->wanted & flag) && !(watch->waiting & flag)) wait(watch, flag);
}

void Transport::wait(const std::shared_ptr<Watch>& watch, int flag) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  watch->waiting |= flag;
  const auto kind = flag == CURL_POLL_IN ? Descriptor::wait_read : Descriptor::wait_write;
  watch->descriptor.async_wait(kind, [this, watch, flag](const boost::system::error_code& error) {
    watch->waiting &= ~flag;
    if (watch->gone || !(watch->wanted & flag)) return;
    const int ready = flag == CURL_POLL_IN ? CURL_CSELECT_IN : CURL_CSELECT_OUT;
    act(watch->descriptor.native_handle(), error ? CURL_CSELECT_ERR : ready);
    if (!watch->gone && (watch->wanted & flag) && !(watch->waiting & flag)) wait(watch, flag);
  });
}

int Transport::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& transport = *static_cast<Transport*>(self);
  const std::uint64_t epoch = ++transport.timer_epoch_;
  if (timeout_ms < 0) {
    transport.timer_.cancel();
    return 0;
  }
  transport.timer_.expires_after(std::chrono::milliseconds(timeout_ms));
  transport.timer_.async_wait([&transport, epoch](const boost::system::error_code& error) {
    if (!error && epoch == transport.timer_epoch_) transport.act(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void Transport::act(curl_socket_t socket, int flags) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, flags, &running);
  report_ended();
}

void Transport::report_ended() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto found = exchanges_.find(message->easy_handle);
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    exchanges_.erase(found);
    curl_multi_remove_handle(multi_, exchange->easy());
    exchange->end(code);
  }
}

}  // namespace kernelsmith::llm
