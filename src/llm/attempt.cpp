#include "attempt.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "redaction.hpp"
#include "wire.hpp"

namespace kernelsmith::llm {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{256} << 10;
constexpr std::size_t kErrorBodyBytes = std::size_t{64} << 10;
constexpr std::string_view kBlanks = " \t\r\n", kByteOrderMark = "\xEF\xBB\xBF";

/// How long an exchange may stay open after its reply. Most servers end it at once, but some keep it open.
/// ClientFailure.AReplyEndsWithItsLastEventThoughTheServerKeepsTheExchangeOpen
constexpr std::chrono::milliseconds kEndOfExchange{100};

/// Whether the status means success: gateways also answer with 201 and 202.
bool is_success(int status) { return status >= 200 && status < 300; }

CallFailure transient(ErrorCode code, std::string message, std::string hint = {}) {
  return {fail(code, std::move(message), "", std::move(hint)), true, false, {}};
}

/// Whether a media type is that of event streams. Ignores case and parameters.
bool is_event_stream(std::string_view type) {
  constexpr std::string_view kName = "text/event-stream";
  return std::ranges::equal(type.substr(0, kName.size()), kName, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == static_cast<int>(b);
  });
}

/// Whether the text begins with an object, a list of objects or an empty list. A "[" alone may begin other
/// text.
bool begins_json(std::string_view text) {
  if (text.starts_with('{')) return true;
  if (!text.starts_with('[')) return false;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.starts_with('{') || text.starts_with(']');
}

CallFailure too_large(std::size_t limit) {
  return lasting(ErrorCode::bad_reply,
                 "the server's answer is larger than " + std::to_string(limit) + " bytes and was cut off");
}

/// Whether the connection was established, so that the server may have read the request before it broke.
bool is_behind_connection(CURLcode code) {
  return code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE ||
         code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM || code == CURLE_SEND_ERROR ||
         code == CURLE_SEND_FAIL_REWIND;
}

}  // namespace

/// Omits unusable URLs and CA files, because check_endpoint() has refused them.
CallFailure failure_from(CURLcode code, const std::string& detail) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
      return lasting(ErrorCode::untrusted, "the server's certificate was not accepted: " + detail,
                     "name the server's own CA with proposer.ca_file; verification cannot be turned off");
    case CURLE_UNSUPPORTED_PROTOCOL:  // not the protocol of the URL, which was checked before
    case CURLE_WEIRD_SERVER_REPLY:
      return transient(ErrorCode::bad_reply, "the server's answer is not HTTP: " + detail);
    case CURLE_OPERATION_TIMEDOUT:
      return transient(ErrorCode::timeout, "no connection in time: " + detail,
                       "check the base URL and the network");
    case CURLE_BAD_CONTENT_ENCODING:
      return transient(ErrorCode::bad_reply, "the server's answer cannot be decompressed: " + detail);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return transient(ErrorCode::network, "the server cannot be reached: " + detail,
                       "check the base URL and the network");
    case CURLE_SEND_FAIL_REWIND:
      return transient(ErrorCode::network, "the connection closed without an answer");
    default:
      if (detail.find("CONNECT tunnel") != detail.npos)
        return transient(ErrorCode::network, "the proxy opens no tunnel to the server: " + detail,
                         "check HTTPS_PROXY, and what that proxy requires");
      return transient(ErrorCode::network, "the connection broke off: " + detail,
                       detail.find("wrong version number") != detail.npos
                           ? "the server may not speak https there: check the scheme and port of the base URL"
                           : "");
  }
}

Error without_key(Error error, const Endpoint& endpoint) {
  if (error.code != ErrorCode::permission || !endpoint.key.empty()) return error;
  const std::string name = endpoint.protocol == Protocol::messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  error.message = "no key was sent, because " + name + " is not set; " + error.message;
  error.hint = "export " + name + "=..., or name another variable: --set 'proposer.key=${NAME}'";
  return error;
}

HttpRequest request_to(const Endpoint& endpoint, const CallLimits& limits, std::string_view path,
                       const std::string& body) {
  HttpRequest request;
  request.url = endpoint.base_url + std::string(path);
  // Without "Expect:" libcurl would wait for a 100 before it sends a large body.
  request.headers = {"Content-Type: application/json", "Expect:"};
  const std::string key(endpoint.key.reveal());
  if (endpoint.protocol == Protocol::messages) {
    request.headers.emplace_back("anthropic-version: 2023-06-01");
    if (!key.empty()) request.headers.push_back("x-api-key: " + key);
  } else if (!key.empty()) {
    request.headers.push_back("Authorization: Bearer " + key);
  }
  request.body = body;
  request.ca_file = endpoint.ca_file;
  request.use_proxy = !is_loopback(endpoint.base_url);
  request.connect_limit = limits.connect;
  return request;
}

int status_in(std::string_view line) {
  if (!line.starts_with("HTTP/")) return 0;
  const auto blank = line.find(' ');
  if (blank == line.npos) return 0;
  int status = 0;
  std::from_chars(line.data() + blank + 1, line.data() + line.size(), status);
  return status;
}

AttemptRun::AttemptRun(boost::asio::io_context& context, Transport& transport, const Endpoint& endpoint,
                       const CallLimits& limits, bool stream, Done done)
    : transport_(transport),
      endpoint_(endpoint),
      limits_(limits),
      stream_(stream),
      done_(std::move(done)),
      timer_(context),
      decoder_(make_stream_decoder(endpoint.protocol)),
      sse_(limits.reply_bytes, [this](std::string_view event, std::string_view data) {
        const auto taken = decoder_->take(event, data);
        if (taken || decoder_->complete()) return true;
        // If the connection ended within an event, reports the end of the connection, not the broken event.
        if (exchange_ == nullptr && taken.error().error.code == ErrorCode::bad_reply) return false;
        failure_ = taken.error();
        return false;
      }) {}

AttemptRun::~AttemptRun() {
  if (exchange_) transport_.cancel(exchange_);
}

void AttemptRun::start(const std::string& body) {
  started_ = last_bytes_ = Clock::now();
  exchange_ = transport_.start(request_to(endpoint_, limits_, path_of(endpoint_.protocol), body), *this);
  watch_deadlines();
}

bool AttemptRun::on_header(std::string_view line) {
  last_bytes_ = Clock::now();
  if (received_ > 0) return true;  // a trailer does not change the reply
  head_bytes_ += line.size();
  if (head_bytes_ > kHeadBytes) {
    failure_ = too_large(kHeadBytes);
    return false;
  }
  if (const int status = status_in(line)) {
    status_ = status;  // earlier status lines came from a 1xx answer or a proxy
    headers_.clear();
  } else {
    add_header(headers_, line);
  }
  return true;
}

/// Finds the form from the beginning of the body, because gateways send each form with the content type of
/// the other. JSON begins with a brace or a bracket, an event stream with the name of a field or a comment.
/// Client.AWholeReplyIsTakenHoweverItComes
AttemptRun::Form AttemptRun::form_of_body() const {
  const std::string_view text = body_;
  const auto type = headers_.find("content-type");
  const bool called_stream = type != headers_.end() && is_event_stream(type->second);
  if (kByteOrderMark.starts_with(text)) return Form::unknown;
  if (called_stream) return text.starts_with('{') || text.starts_with('[') ? Form::whole : Form::stream;
  bool may_become_one = false;
  for (const std::string_view field : {"data:", "event:", "id:", "retry:", ":"}) {
    if (text.starts_with(field)) return Form::stream;
    may_become_one = may_become_one || field.starts_with(text);
  }
  return may_become_one ? Form::unknown : Form::whole;
}

bool AttemptRun::is_stream() const { return form_ == Form::stream; }

bool AttemptRun::on_body(std::string_view bytes) {
  last_bytes_ = Clock::now();
  received_ += bytes.size();
  if (!is_success(status_)) {
    body_ += bytes.substr(0, kErrorBodyBytes - body_.size());
    return body_.size() < kErrorBodyBytes;
  }
  if (received_ > limits_.reply_bytes) {
    failure_ = too_large(limits_.reply_bytes);
    return false;
  }
  const bool goes_on = take(bytes);
  if (due() < timer_.expiry()) watch_deadlines();  // once the reply has begun, the limit of silence applies
  return goes_on;
}

/// Drops the blanks that some servers send while a model thinks, so that each is examined only once.
/// ClientFailure.BlanksBeforeAReplyAreLookedAtOnce
void AttemptRun::drop_leading_blanks() {
  if (body_.starts_with(kByteOrderMark)) body_.erase(0, kByteOrderMark.size());
  body_.erase(0, std::min(body_.find_first_not_of(kBlanks), body_.size()));
}

bool AttemptRun::take(std::string_view bytes) {
  if (is_stream()) return sse_.feed(bytes);
  body_ += bytes;
  if (form_ == Form::unknown) {
    drop_leading_blanks();
    form_ = form_of_body();
  }
  if (!is_stream()) return true;
  const std::string beginning = std::exchange(body_, {});
  return sse_.feed(beginning);
}

/// Whether the model has begun to reply. Any part of a plain body comes from the model.
bool AttemptRun::begun() const { return decoder_->begun() || !body_.empty(); }

AttemptRun::Clock::time_point AttemptRun::due() const {
  const auto total = started_ + limits_.total;
  if (decoder_->ended()) return std::min(total, last_bytes_ + kEndOfExchange);
  if (begun()) return std::min(total, last_bytes_ + limits_.silence);
  return std::min({total, stream_ ? started_ + limits_.first_token : total, latest_.value_or(total)});
}

void AttemptRun::hurry(std::chrono::milliseconds patience) {
  latest_ = Clock::now() + std::max(patience, limits_.silence);
  if (due() < timer_.expiry()) watch_deadlines();
}

void AttemptRun::watch_deadlines() {
  timer_.expires_at(due());
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->exchange_) return;
    if (Clock::now() < self->due()) return self->watch_deadlines();
    self->time_out();
  });
}

void AttemptRun::time_out() {
  const char* what = "no complete reply in time (proposer.limits.total_s)";
  if (Clock::now() < started_ + limits_.total)
    what = begun()   ? "the reply stalled (proposer.limits.silence_s)"
           : latest_ ? "the model did not begin to answer soon after the run's budget was used up"
                     : "the model did not begin to answer in time (proposer.limits.first_token_s)";
  transport_.cancel(std::exchange(exchange_, nullptr));
  reached_ = true;  // this limit ends only exchanges with a connection; libcurl's own limit ends the others
  end(transient(ErrorCode::timeout, what));
}

void AttemptRun::on_end(CURLcode code, std::string detail, bool sent) {
  exchange_ = nullptr;
  reached_ = sent && is_behind_connection(code);
  if (is_stream() && !failure_ && !sse_.too_large()) sse_.end();
  end(code == CURLE_OK ? std::nullopt : std::optional(failure_from(code, detail)));
}

/// Whether the body is JSON or a stream, and not a page of another program.
/// ClientFailure.ATextInThePlaceOfAnAnswerIsShownAndNotPaidFor
bool AttemptRun::is_document() const { return is_stream() || body_.empty() || begins_json(body_); }

/// The reply in the received part of a successful answer.
Attempt<ModelReply> AttemptRun::reply() const {
  if (is_stream()) return decoder_->finish();
  if (is_document()) return decode_reply(endpoint_.protocol, body_);
  const auto type = headers_.find("content-type");
  const std::string beginning = body_.substr(0, kErrorBodyBytes);
  return no_reply(beginning, transient(ErrorCode::bad_reply,
                                       "the server's answer is not JSON but " +
                                           (type == headers_.end() ? "of an unnamed type" : type->second) +
                                           ": " + beginning,
                                       "check the base URL, which ends in /v1 with most servers"));
}

std::optional<ModelReply> AttemptRun::take_whole() {
  if (!is_success(status_) || !(is_stream() ? decoder_->complete() : body_.ends_with('}')))
    return std::nullopt;
  auto whole = redacted(reply(), endpoint_.key);
  if (!whole) return std::nullopt;
  return std::move(*whole);
}

/// The result of the attempt. Uses a complete reply whatever happened after its end, because it is paid for.
/// ClientFailure.NothingBehindAWholeReplyLosesIt
Attempt<ModelReply> AttemptRun::outcome(const std::optional<CallFailure>& broken) {
  const bool cut_off = failure_ || sse_.too_large();
  if (is_success(status_) && (is_stream() ? decoder_->complete() : !cut_off)) {
    auto whole = reply();
    if (whole || !broken) return whole;
    CallFailure failure = *broken;
    failure.usage = whole.error().usage;
    return failure;
  }
  if (failure_) return *failure_;
  if (sse_.too_large()) return too_large(limits_.reply_bytes);
  if (status_ != 0 && !is_success(status_)) {
    const auto now = std::chrono::system_clock::now();
    const auto asked = retry_after(headers_, now);
    CallFailure failure = decode_failure(status_, body_, asked);
    const auto reset = asked ? std::nullopt : reset_pause(headers_, now);
    if (reset && failure.overloaded) failure.retry_after = reset;
    return failure;
  }
  if (broken) return *broken;
  return reply();
}

bool AttemptRun::accepted() const { return is_success(status_); }

std::string AttemptRun::so_far() const {
  if (!is_success(status_)) return {};
  return is_stream() ? decoder_->so_far() : body_;
}

std::optional<LostCall> AttemptRun::lost_now() const {
  if (status_ == 0 && !(exchange_ && Transport::is_sent(*exchange_))) return std::nullopt;
  if (status_ != 0 && !is_success(status_)) return std::nullopt;
  return LostCall{decoder_->usage(), so_far()};
}

/// What the failed attempt cost. A server that answers with an error bills nothing, unless it reports usage.
std::optional<LostCall> AttemptRun::lost_with(const CallFailure& failure) const {
  const auto usage = failure.usage ? failure.usage : decoder_->usage();
  const ErrorCode code = failure.error.code;
  const bool broke_off =
      code == ErrorCode::bad_reply || code == ErrorCode::timeout || code == ErrorCode::network;
  if (is_success(status_) && (decoder_->begun() || failure.begun))
    return LostCall{usage, so_far()};  // for any failure
  if (!is_document()) return std::nullopt;
  if (!usage && !(broke_off && (is_success(status_) || (status_ == 0 && reached_)))) return std::nullopt;
  return LostCall{usage, so_far()};
}

void AttemptRun::end(const std::optional<CallFailure>& broken) {
  const auto self = shared_from_this();  // done_ may destroy this attempt
  timer_.cancel();
  const auto now = std::chrono::system_clock::now();
  auto reply = outcome(broken);
  auto lost = reply ? std::nullopt : lost_with(reply.error());
  reply = redacted(std::move(reply), endpoint_.key);
  std::exchange(done_, nullptr)(
      {std::move(reply), std::move(lost), rate_limit_pause(headers_, now), has_rate_limits(headers_)});
}

}  // namespace kernelsmith::llm
