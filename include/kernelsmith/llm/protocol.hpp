// The three protocols as pure functions: a call to a body, a body or a stream to a reply or a failure.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/llm/model_call.hpp>
#include <kernelsmith/llm/model_traits.hpp>

namespace kernelsmith {

/// The path below the base URL, such as "/chat/completions".
std::string_view path_of(Protocol protocol);

/// The body of a request. `invalid_argument` if extra_body is no JSON object or sets `stream`, or if a
/// text is not UTF-8.
Result<std::string> encode_call(Protocol protocol, const ModelCall& call, const ModelTraits& traits);

/// Why an attempt gave no reply, and whether another attempt may.
struct CallFailure {
  Error error;
  bool transient = false;   ///< another attempt may do better
  bool overloaded = false;  ///< the server asks for less: a rate limit, or it says that it is overloaded
  std::optional<std::chrono::milliseconds> retry_after;  ///< what the server asks for
  std::optional<Usage> usage = std::nullopt;  ///< that the server reported all the same: it is paid for
  bool begun = false;                         ///< a part of a reply came with it, and may be paid for

  friend bool operator==(const CallFailure&, const CallFailure&) = default;
};

/// Found by Attempt::value() through argument-dependent look-up; throws the failure's error.
[[noreturn]] void throw_exception_from_error(const CallFailure& failure, const boost::source_location& at);

template <class T>
using Attempt = boost::system::result<T, CallFailure>;

/// The reply in the body of a 200 that is no stream.
Attempt<ModelReply> decode_reply(Protocol protocol, std::string_view body);

/// The failure that a status other than 200 and its body stand for. The server's message is quoted whole and
/// as it came. `asked`: the pause that its headers ask for, if any.
CallFailure decode_failure(int status, std::string_view body,
                           std::optional<std::chrono::milliseconds> asked = {});

/// Collects a streamed reply. Not thread-safe.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  /// One server-sent event; one without data is skipped. A failure ends a stream that is not complete: broken
  /// JSON, an error that the server sent, or a reply that the server broke off.
  virtual Attempt<void> take(std::string_view event, std::string_view data) = 0;

  /// True once the model has begun to answer, with reasoning or text.
  virtual bool begun() const = 0;

  /// True once the reply is whole: what still comes can only tell its usage, and nothing of it is a failure.
  virtual bool complete() const = 0;

  /// True once a complete reply's last event has come: nothing more is to be waited for.
  virtual bool ended() const = 0;

  /// What the server has reported of the call's tokens so far.
  virtual std::optional<Usage> usage() const = 0;

  /// What has come of reply and reasoning; together, in no particular order.
  virtual std::string so_far() const = 0;

  /// The reply, after the last event. A failure if the stream broke off before it was complete.
  virtual Attempt<ModelReply> finish() = 0;
};

std::unique_ptr<StreamDecoder> make_stream_decoder(Protocol protocol);

}  // namespace kernelsmith
