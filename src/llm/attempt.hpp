// One attempt at a call: one exchange with its deadlines, decoded into a reply or a failure.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/protocol.hpp>

#include "headers.hpp"
#include "sse.hpp"
#include "transport.hpp"

namespace kernelsmith::llm {

/// The failure for an error below HTTP; `detail` is libcurl's message.
CallFailure failure_from(CURLcode code, const std::string& detail);

/// A request with the endpoint's key, to `path` below its base URL.
HttpRequest request_to(const Endpoint& endpoint, const CallLimits& limits, std::string_view path,
                       const std::string& body);

/// If a server refused a call that had no key, says in the error that no key is set.
Error without_key(Error error, const Endpoint& endpoint);

/// The status in a line such as "HTTP/1.1 200 OK"; 0 for any other line.
int status_in(std::string_view line);

struct AttemptEnd {
  Attempt<ModelReply> reply;
  std::optional<LostCall> lost;
  std::optional<std::chrono::milliseconds> pause;  ///< the pause that the server's rate limits ask for
  bool hinted = false;                             ///< whether the server sends its rate limits
};

/// One attempt, used on the client's thread. Destroying it before its end cancels the exchange.
class AttemptRun final : public HttpListener, public std::enable_shared_from_this<AttemptRun> {
 public:
  /// Called once, unless the attempt is destroyed first. May destroy the attempt.
  using Done = std::function<void(AttemptEnd)>;

  AttemptRun(boost::asio::io_context& context, Transport& transport, const Endpoint& endpoint,
             const CallLimits& limits, bool stream, Done done);
  ~AttemptRun() override;
  AttemptRun(const AttemptRun&) = delete;
  AttemptRun& operator=(const AttemptRun&) = delete;

  void start(const std::string& body);

  /// What the attempt may cost if it is aborted now.
  std::optional<LostCall> lost_now() const;

  /// The reply, if it is complete although the exchange continues. Afterwards the attempt must not be used.
  std::optional<ModelReply> take_whole();

  /// If the reply has not begun, waits for it at most `patience` or the limit of silence, whichever is
  /// longer.
  void hurry(std::chrono::milliseconds patience);

  /// Whether the server has answered with a status of success.
  bool accepted() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool on_header(std::string_view line) override;
  bool on_body(std::string_view bytes) override;
  void on_end(CURLcode code, std::string detail, bool sent) override;

  enum class Form { unknown, whole, stream };

  bool take(std::string_view bytes);
  void drop_leading_blanks();
  Form form_of_body() const;
  bool is_stream() const;
  bool begun() const;

  void watch_deadlines();
  Clock::time_point due() const;
  void time_out();
  std::string so_far() const;
  std::optional<LostCall> lost_with(const CallFailure& failure) const;
  bool is_document() const;
  Attempt<ModelReply> reply() const;
  Attempt<ModelReply> outcome(const std::optional<CallFailure>& broken);
  void end(const std::optional<CallFailure>& broken);

  Transport& transport_;
  const Endpoint& endpoint_;
  const CallLimits& limits_;
  bool stream_;
  Done done_;
  boost::asio::steady_timer timer_;
  Transport::Exchange* exchange_ = nullptr;

  Clock::time_point started_, last_bytes_;
  std::optional<Clock::time_point> latest_;  ///< deadline for the beginning of a reply; see hurry()
  Headers headers_;
  int status_ = 0;
  std::size_t head_bytes_ = 0, received_ = 0;
  Form form_ = Form::unknown;  ///< form of the body of a 200
  std::string body_;           ///< the received body, except for a stream
  std::unique_ptr<StreamDecoder> decoder_;
  SseParser sse_;
  std::optional<CallFailure> failure_;  ///< a failure found while receiving
  bool reached_ = false;                ///< whether the server may have received the request
};

}  // namespace kernelsmith::llm
