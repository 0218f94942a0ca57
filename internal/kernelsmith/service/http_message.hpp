// The input and output of the HTTP server's handlers: requests, responses, the object that answers a request,
// and streams of server-sent events. The server itself is in http_server.hpp.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsmith::http {

/// Header fields in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// A request as handlers see it.
struct Request {
  std::string method;  ///< "GET" for a HEAD request too: the server leaves the body out of the answer
  std::string path;    ///< the path as it was sent: percent-encoded, without the query
  std::map<std::string, std::string> parameters;  ///< decoded; by their names in the route's pattern
  std::map<std::string, std::string> query;       ///< decoded; the last of equal names
  Fields headers;                                 ///< names in lower case
  std::string body;

  /// The first value of a header field, by its name in lower case.
  std::optional<std::string_view> header(std::string_view name) const;
};

/// A complete answer.
struct Response {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  Fields headers = {};  ///< further headers
};

/// The form of every error: {"detail": ..., "error_code": ..., "hint": ...} with KernelGYM's `error`,
/// `message` and `timestamp`. The code is VALIDATION_ERROR for a client's mistake, RESOURCE_ERROR if a retry
/// may succeed, SYSTEM_ERROR otherwise.
Response error_response(unsigned status, std::string_view detail, std::string_view hint = {});

/// A text as a JSON string, with its quotes; invalid UTF-8 is replaced.
std::string json_quoted(std::string_view text);

class Exchange;  // a request that is not answered yet: service/http/exchange.hpp

/// Server-sent events to one client. Copies write to the same stream. It ends when the last copy is
/// destroyed. Thread-safe; calls do not wait for the network.
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<Exchange> exchange);

  /// Sends one event; each line of `data` becomes a data field. An empty `event` is a plain message; a
  /// browser sends `id` as Last-Event-ID when it reconnects. Returns false if the stream has ended, because
  /// the client is gone, the server stops, or more than 4 MiB wait for a client that does not read.
  bool send(std::string_view event, std::string_view data, std::string_view id = {}) const;

  /// Whether send() would return false. The server notices within seconds that a client is gone, because it
  /// sends a comment now and then.
  bool closed() const;

 private:
  struct Ending;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Ending> ending_;
};

/// Answers a request once, on any thread and at any time. Copies belong to the same request; if the last is
/// destroyed without an answer, the client gets 500. May outlive the server.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange);

  /// Returns false if the request was already answered or its client is gone.
  bool send(Response response) const;

  /// Answers with a stream of events instead of a response. A second call, or one after send(), returns a
  /// closed stream.
  EventStream stream() const;

 private:
  struct Promise;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Promise> promise_;
};

/// The form of every time in answers: "2026-01-31T12:00:00.123Z".
std::string iso_time(std::chrono::system_clock::time_point time);

}  // namespace kernelsmith::http
