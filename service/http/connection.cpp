#include "connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <sys/socket.h>

#include "admission.hpp"
#include "target.hpp"

namespace kernelsmith::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;

/// Operations return (error, result) instead of throwing.
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kFirstRead = 4096;
/// The size of one read, beyond a header.
constexpr std::size_t kReadBlock = std::size_t{64} << 10;
/// The limit for requests whose body has no meaning (GET, HEAD, DELETE).
constexpr std::size_t kUnusedBody = 4096;
/// How much of a refused request is read, so that its client can read the answer.
constexpr std::size_t kMostDrained = std::size_t{64} << 20;
constexpr std::chrono::seconds kLongestDrain{2};
/// The interval of comments between events, to detect whether the client is still there.
constexpr std::string_view kComment = ":\n\n";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Informs the handler's side when the connection no longer needs its answer.
class Attached {
 public:
  explicit Attached(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Attached() { exchange_->detach(); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  std::shared_ptr<Exchange> exchange_;
};

template <class Header>
Request request_of(const Header& header, const Target& target) {
  Request request;
  request.method = header.method() == wire::verb::head ? "GET" : std::string(header.method_string());
  request.path = target.path;
  request.query = target.query;
  for (const auto& field : header) {
    std::string name(field.name_string());
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    request.headers.emplace_back(std::move(name), field.value());
  }
  return request;
}

Response not_allowed(const std::vector<std::string>& methods) {
  std::string allow;
  for (const std::string& method : methods) allow += (allow.empty() ? "" : ", ") + method;
  Response response = error_response(405, "this path does not take that method", "it takes " + allow);
  response.headers.emplace_back("Allow", allow);
  return response;
}

Response unauthorized() {
  Response response =
      error_response(401, "no token, or a wrong one", "send the header Authorization: Bearer TOKEN");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response overcrowded() {
  Response response = error_response(503, "too many connections", "try again, or use fewer");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

/// The answer to a header whose body or end programs may see in different places; empty for others.
template <class Header>
std::optional<Response> ambiguous(const Header& header) {
  const auto hosts = header.count(wire::field::host);
  if (hosts > 1 || (hosts == 0 && header.version() >= 11))
    return error_response(400, "a request has one Host header, not " + std::to_string(hosts));
  if (header.count(wire::field::authorization) > 1)
    return error_response(400, "a request has one Authorization header at most");
  const auto encodings = header.count(wire::field::transfer_encoding);
  if (encodings > 1 || (encodings == 1 && !beast::iequals(header[wire::field::transfer_encoding], "chunked")))
    return error_response(501, "this Transfer-Encoding is not known", "send chunked, or a Content-Length");
  if (encodings == 1 && header.version() < 11)
    return error_response(400, "HTTP/1.0 has no Transfer-Encoding", "send a Content-Length, or HTTP/1.1");
  return std::nullopt;
}

std::string words_of(const error_code& error) {
  if (error == wire::error::bad_obs_fold) return "a header field goes on in another line";
  return "this is not an HTTP request: " + error.message();
}

/// The answer to a request that reaches no handler; empty if one is found.
std::optional<Response> turned_away(const Request& request, const Router::Match& match,
                                    const Shared& shared) {
  if (is_cross_site(request, shared.loopback, shared.options.allowed_hosts))
    return error_response(403, "the Host or Origin header names another site",
                          "ask for 127.0.0.1 or localhost; a page of another site may not ask");
  const bool open = match.route && match.route->access == Access::open;
  if (!open && shared.options.guard && !shared.options.guard(request)) return unauthorized();
  if (match.route) return std::nullopt;
  if (!match.methods.empty()) return not_allowed(match.methods);
  return error_response(404, "there is nothing at " + request.path);
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, Strand strand, std::shared_ptr<const Shared> shared)
    : strand_(std::move(strand)),
      shared_(std::move(shared)),
      stream_(std::move(socket)),
      buffer_(shared_->options.max_header_bytes + kReadBlock),
      wake_(std::make_shared<asio::steady_timer>(strand_)) {}

void Connection::start(bool refused, std::function<void()> gone) {
  asio::co_spawn(
      strand_, [self = shared_from_this(), refused] { return self->run(refused); },
      [self = shared_from_this(), gone = std::move(gone)](const std::exception_ptr&) { gone(); });
}

void Connection::stop() {
  asio::post(strand_, [self = shared_from_this()] {
    self->stopping_ = true;
    if (self->idle_) self->stream_.cancel();
    self->wake_->cancel();
  });
}

Connection::Awaitable<> Connection::run(bool refused) {
  error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  while (!stopping_) {
    const bool arrived = co_await wait_for_bytes();
    if (!arrived) break;
    const bool more = co_await serve_one(refused);
    if (!more) break;
  }
  if (unread_ && !stopping_) co_await drain();
  stream_.close();
}

/// Waits for the first bytes of a request.
Connection::Awaitable<bool> Connection::wait_for_bytes() {
  if (buffer_.size() > 0) co_return true;  // sent along with the request before
  idle_ = true;
  stream_.expires_after(shared_->options.idle_timeout);
  const auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kFirstRead), kTuple);
  idle_ = false;
  if (error) co_return false;
  buffer_.commit(bytes);
  co_return true;
}

/// Returns whether the connection continues.
Connection::Awaitable<bool> Connection::serve_one(bool refused) {
  const ServerOptions& options = shared_->options;
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(options.max_header_bytes));
  body_limit_ = options.max_body_bytes;
  parser.body_limit(body_limit_);
  head_ = keep_alive_ = false;
  version_ = 11;
  method_.clear();
  route_.clear();
  begun_ = std::chrono::steady_clock::now();

  stream_.expires_after(options.request_timeout);
  const auto [error, bytes] = co_await wire::async_read_header(stream_, buffer_, parser, kTuple);
  if (error) co_return co_await fail_to_read(error);
  const auto& header = parser.get();
  head_ = header.method() == wire::verb::head;
  version_ = header.version();
  method_ = header.method_string();
  const std::string_view text(header.target().data(), header.target().size());
  const auto target = parse_target(text);
  if (refused) co_return co_await write(overcrowded());
  if (auto refusal = ambiguous(header)) {
    unread_ = true;
    co_return co_await write(std::move(*refusal));
  }
  if (!target) co_return co_await write(error_response(400, "the request's target is not a path"));

  Request request = request_of(header, *target);
  Router::Match match = shared_->router.find(request.method, target->segments);
  if (match.route) route_ = match.route->pattern;
  // Refuses before the body is read, because it may be large.
  if (auto refusal = turned_away(request, match, *shared_)) {
    unread_ = !parser.is_done();
    keep_alive_ = !unread_ && header.keep_alive();
    co_return co_await write(std::move(*refusal));
  }
  if (header.method() != wire::verb::post && header.method() != wire::verb::put)
    body_limit_ = std::min(body_limit_, kUnusedBody);
  const bool complete = co_await read_body(parser);
  if (!complete) co_return false;
  keep_alive_ = parser.get().keep_alive();
  request.parameters = std::move(match.parameters);
  request.body = std::move(parser.get().body());
  co_return co_await dispatch(std::move(request), *match.route);
}

/// Returns false if the request ended here, with or without an answer.
Connection::Awaitable<bool> Connection::read_body(Parser& parser) {
  parser.body_limit(body_limit_);  // for chunks; a length was already checked
  if (parser.content_length().value_or(0) > body_limit_) {
    co_await fail_to_read(wire::error::body_limit);
    co_return false;
  }
  if (!parser.is_done() && beast::iequals(parser.get()[wire::field::expect], "100-continue")) {
    const auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(kContinue), kTuple);
    if (error) co_return false;
  }
  const auto [error, bytes] = co_await wire::async_read(stream_, buffer_, parser, kTuple);
  begun_ = std::chrono::steady_clock::now();
  if (error) {
    keep_alive_ = false;
    co_await fail_to_read(error);
    co_return false;
  }
  co_return true;
}

/// Answers an invalid request; ignores a broken connection.
Connection::Awaitable<bool> Connection::fail_to_read(error_code error) {
  const ServerOptions& options = shared_->options;
  unread_ = true;
  if (error == wire::error::body_limit)
    co_return co_await write(
        error_response(413, "the body is larger than " + std::to_string(body_limit_) + " bytes"));
  // A full buffer: a chunk's header or trailers are too long.
  if (error == wire::error::header_limit || error == wire::error::buffer_overflow)
    co_return co_await write(error_response(
        431, "the header is larger than " + std::to_string(options.max_header_bytes) + " bytes"));
  const bool broken_off = error == wire::error::end_of_stream || error == wire::error::partial_message;
  if (!broken_off && error.category() == make_error_code(wire::error::bad_method).category())
    co_return co_await write(error_response(400, words_of(error)));
  co_return false;
}

Connection::Awaitable<bool> Connection::dispatch(Request request, const Router::Route& route) {
  const auto exchange = std::make_shared<Exchange>(
      [strand = strand_, timer = wake_] { asio::post(strand, [timer] { timer->cancel(); }); });
  const Attached attached(exchange);
  {
    const Responder responder(exchange);
    try {
      route.handler(std::move(request), responder);
    } catch (const std::exception& thrown) {
      responder.send(error_response(500, std::string("the handler failed: ") + thrown.what()));
    } catch (...) {
      responder.send(error_response(500, "the handler failed"));
    }
  }
  while (true) {
    Exchange::Taken taken = exchange->take();
    if (taken.response) co_return co_await write(std::move(*taken.response));
    if (taken.streaming) {
      co_await write_events(exchange, std::move(taken));
      co_return false;
    }
    if (gone_) co_return false;
    watch_for_close();
    wake_->expires_at(asio::steady_timer::time_point::max());
    co_await wake_->async_wait(kTuple);
  }
}

/// Returns whether the connection continues.
Connection::Awaitable<bool> Connection::write(Response response) {
  const bool goes_on = keep_alive_ && !stopping_;
  wire::response<wire::string_body> message(static_cast<wire::status>(response.status), version_);
  message.set(wire::field::content_type, response.content_type);
  message.set(wire::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(goes_on);
  message.body() = std::move(response.body);
  message.prepare_payload();
  stream_.expires_after(shared_->options.request_timeout);
  error_code failed;
  wire::response_serializer<wire::string_body> serializer(message);
  if (head_) {
    const auto [error, bytes] = co_await wire::async_write_header(stream_, serializer, kTuple);
    failed = error;
  } else {
    const auto [error, bytes] = co_await wire::async_write(stream_, serializer, kTuple);
    failed = error;
  }
  tell_served(response.status);
  co_return !failed && goes_on;
}

Connection::Awaitable<> Connection::write_events(std::shared_ptr<Exchange> exchange, Exchange::Taken taken) {
  wire::response<wire::empty_body> message(wire::status::ok, version_);
  message.set(wire::field::content_type, "text/event-stream");
  message.set(wire::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  message.keep_alive(false);
  if (version_ >= 11) message.chunked(true);
  wire::response_serializer<wire::empty_body> serializer(message);
  stream_.expires_after(shared_->options.request_timeout);
  const auto [error, written] = co_await wire::async_write_header(stream_, serializer, kTuple);
  tell_served(200);
  if (error || head_) co_return;

  watch_for_close();
  while (!gone_ && !stopping_) {
    if (!taken.bytes.empty()) {
      const bool sent = co_await write_chunk(taken.bytes);
      if (!sent) co_return;
    }
    if (taken.ended) break;
    taken = exchange->take();
    if (!taken.bytes.empty() || taken.ended) continue;
    wake_->expires_after(shared_->options.heartbeat);
    const auto [woken] = co_await wake_->async_wait(kTuple);
    taken = exchange->take();
    if (!woken) taken.bytes += kComment;
  }
  if (gone_ || version_ < 11) co_return;
  stream_.expires_after(shared_->options.request_timeout);
  co_await asio::async_write(stream_, wire::make_chunk_last(), kTuple);
}

Connection::Awaitable<bool> Connection::write_chunk(std::string_view bytes) {
  stream_.expires_after(shared_->options.request_timeout);
  const asio::const_buffer buffer(bytes.data(), bytes.size());
  if (version_ < 11) {
    const auto [error, written] = co_await asio::async_write(stream_, buffer, kTuple);
    co_return !error;
  }
  const auto [error, written] = co_await asio::async_write(stream_, wire::make_chunk(buffer), kTuple);
  co_return !error;
}

/// A client that waits for an answer sends nothing, so the end of its stream means that it is gone. Watching
/// ends if the client sends its next request.
void Connection::watch_for_close() {
  if (std::exchange(watching_, true)) return;
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
        self->watching_ = false;
        if (error == asio::error::operation_aborted) return;
        char byte = 0;
        const auto socket = self->stream_.socket().native_handle();
        const ssize_t got = error ? 0 : ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got > 0) return;
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return self->watch_for_close();  // read meanwhile
        self->gone_ = true;
        self->wake_->cancel();
      });
}

/// Ends the sending side, and still reads for a while: closing a socket with unread bytes would discard the
/// answer.
Connection::Awaitable<> Connection::drain() {
  error_code failed;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  stream_.expires_after(kLongestDrain);
  std::array<char, std::size_t{16} << 10> bytes;
  for (std::size_t read = 0; !failed && read < kMostDrained;) {
    const auto [error, count] = co_await stream_.async_read_some(asio::buffer(bytes), kTuple);
    failed = error;
    read += count;
  }
}

void Connection::tell_served(unsigned status) const {
  if (!shared_->options.on_served) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
  shared_->options.on_served({method_, route_, status, taken.count()});
}

}  // namespace kernelsmith::http
