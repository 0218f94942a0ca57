// The three protocols as pure functions. They turn a call into a body, and a body or a stream into a reply or
// a failure.
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

/// The path after the base URL, such as "/chat/completions".
std::string_view path_of(Protocol protocol);

/// The body of a request. Errors: `invalid_argument` if extra_body is not a JSON object or sets `stream`, or
/// if a text is not UTF-8.
Result<std::string> encode_call(Protocol protocol, const ModelCall& call, const ModelTraits& traits);

/// Why an attempt failed, and whether a retry may help.
struct CallFailure {
  Error error;
  bool transient = false;                                ///< a retry may succeed
  bool overloaded = false;                               ///< the server has a rate limit or is overloaded
  std::optional<std::chrono::milliseconds> retry_after;  ///< the server's requested pause
  std::optional<Usage> usage = std::nullopt;  ///< usage that the server reported although the attempt failed:
                                              ///< it is billed
  bool begun = false;                         ///< a part of a reply arrived and may be billed

  friend bool operator==(const CallFailure&, const CallFailure&) = default;
};

/// Throws the failure's error. Attempt::value() finds this function through argument-dependent look-up.
[[noreturn]] void throw_exception_from_error(const CallFailure& failure, const boost::source_location& at);

template <class T>
using Attempt = boost::system::result<T, CallFailure>;

/// Reads the reply from the body of a response with status 200 that is not a stream.
Attempt<ModelReply> decode_reply(Protocol protocol, std::string_view body);

/// Makes the failure for a response with a status other than 200. The server's message is quoted unchanged.
/// `asked` is the pause that the headers request, if any.
CallFailure decode_failure(int status, std::string_view body,
                           std::optional<std::chrono::milliseconds> asked = {});

/// Collects a streamed reply. Not thread-safe.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  /// Adds a server-sent event. An event without data is skipped. Fails if the stream ends before it is
  /// complete: broken JSON, an error from the server, or an aborted reply.
  virtual Attempt<void> take(std::string_view event, std::string_view data) = 0;

  /// Returns true once the model has begun to answer, with reasoning or text.
  virtual bool begun() const = 0;

  /// Returns true once the reply is complete. After that only usage can follow, and no later event is a
  /// failure.
  virtual bool complete() const = 0;

  /// Returns true once the last event of a complete reply has arrived.
  virtual bool ended() const = 0;

  /// The call's tokens that the server has reported so far.
  virtual std::optional<Usage> usage() const = 0;

  /// The reply and the reasoning received so far, mixed in no particular order.
  virtual std::string so_far() const = 0;

  /// Returns the reply. Call it after the last event. Fails if the stream broke off before the reply was
  /// complete.
  virtual Attempt<ModelReply> finish() = 0;
};

std::unique_ptr<StreamDecoder> make_stream_decoder(Protocol protocol);

}  // namespace kernelsmith
