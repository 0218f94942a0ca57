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

struct AttemptEnd {
  Attempt<ModelReply> reply;
  std::optional<std::chrono::milliseconds> pause;  ///< the server's rate limits say so
  bool hinted = false;                             ///< the server tells its limits
};

/// Lives on the client's thread. Destroying it before its end cancels it.
class AttemptRun final : public HttpListener, public std::enable_shared_from_this<AttemptRun> {
 public:
  /// Called once, unless the attempt is destroyed before; may destroy it.
  using Done = std::function<void(AttemptEnd)>;

  AttemptRun(boost::asio::io_context& context, Transport& transport, const Endpoint& endpoint,
             const CallLimits& limits, bool stream, Done done);
  ~AttemptRun() override;
  AttemptRun(const AttemptRun&) = delete;
  AttemptRun& operator=(const AttemptRun&) = delete;

  void start(const std::string& body);

 private:
  using Clock = std::chrono::steady_clock;

  bool on_header(std::string_view line) override;
  bool on_body(std::string_view bytes) override;
  void on_end(CURLcode code, std::string detail) override;

  bool take(std::string_view bytes);
  bool is_stream() const;
  bool begun() const;

  void watch_deadlines();
  Clock::time_point due() const;
  void time_out();
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
  Headers headers_;
  int status_ = 0;
  std::size_t head_bytes_ = 0, received_ = 0;
  std::string body_;
  std::unique_ptr<StreamDecoder> decoder_;
  SseParser sse_;
  std::optional<CallFailure> failure_;  ///< found while receiving
};

}  // namespace kernelsmith::llm
