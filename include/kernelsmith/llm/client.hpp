// ModelClient: calls to one endpoint, any number in flight, on one thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/llm/endpoint.hpp>
#include <kernelsmith/llm/model_call.hpp>
#include <kernelsmith/llm/pacing.hpp>
#include <kernelsmith/llm/retry.hpp>

namespace kernelsmith {

/// Limits of one attempt.
struct CallLimits {
  std::chrono::milliseconds connect{20'000};       ///< the time for name look-up, TCP and TLS
  std::chrono::milliseconds first_token{300'000};  ///< the time until the model begins a streamed reply
  std::chrono::milliseconds silence{60'000};       ///< the time between two pieces of a reply
  std::chrono::milliseconds total{1'800'000};
  std::size_t reply_bytes = std::size_t{32} << 20;  ///< size of a reply's body, decompressed
};

/// A number that differs in every process. So clients that are rejected at the same time retry at different
/// times.
std::uint64_t fresh_seed();

/// A client's limits, retries and pacing.
struct ClientOptions {
  CallLimits limits = {};
  RetryPolicy retry = {};
  PacingOptions pacing = {};
  std::uint64_t seed = fresh_seed();  ///< seed of the jitter
  /// Called for every retry, on the client's thread; must not block. May be empty.
  std::function<void(const Notice&)> notice = {};
};

/// A failed attempt that was billed or may have been billed.
struct LostCall {
  std::optional<Usage> usage;  ///< what the server reported; the output may have been longer
  std::string text;            ///< the part of reply and reasoning that was received
};
using LostCallSink = std::function<void(const LostCall&)>;

/// Sends calls, retries transient failures, and keeps the rate limits. Thread-safe.
///
/// If three replies in a row are unreadable, one call tries the other form of reply (plain instead of
/// streamed, or streamed instead of plain). If that works, all calls use it. If not, no further call is sent,
/// and each ends with that error (`bad_reply`).
///
/// No complete answer is lost: a stream that breaks off after its end is a reply. Redirects are never
/// followed. No error or notice contains the key. The contract is Proposer's: start() does not block, and
/// `done` is called exactly once, on the client's thread. After a stop request it is called soon, with
/// `cancelled`. The destructor returns when nothing is in flight. It must not be called on the client's
/// thread.
class ModelClient {
 public:
  /// Errors: check_endpoint's.
  static Result<std::shared_ptr<ModelClient>> create(Endpoint endpoint, ClientOptions options = {});

  ~ModelClient();
  ModelClient(const ModelClient&) = delete;
  ModelClient& operator=(const ModelClient&) = delete;

  /// Errors: encode_call's; `network`, `untrusted`, `timeout`, `rate_limited`, `server_failed`, `bad_reply`,
  /// `too_long`, `permission`, `not_found` or `invalid_argument`, whichever the server's last answer was;
  /// `cancelled`. `lost` may be empty; it is called on the client's thread as soon as an attempt is lost,
  /// before `done`. `ending` is ProposalRequest's. Once it is requested, no attempt starts, pauses or queues,
  /// and an attempt under way must begin its reply within CallLimits::silence or twice the time of the
  /// slowest reply so far. A call that ends for this reason has the error of its last attempt, or
  /// `cancelled`.
  void start(ModelCall call, std::stop_token stop, Sink<ModelReply> done, LostCallSink lost = {},
             std::stop_token ending = {});

 private:
  class Impl;
  explicit ModelClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
