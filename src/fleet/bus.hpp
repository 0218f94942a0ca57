// Bus: the fleet's interface to a persistent queue. Only nats_bus.cpp implements it, with NATS JetStream. In
// a build without libnats, no_nats.cpp returns an error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/fleet/server.hpp>

namespace kernelsmith::fleet {

using std::chrono::milliseconds;

/// A stream: messages that the server keeps for a time.
struct StreamSpec {
  const char* name;
  const char* subjects;
  bool work_queue = false;  ///< a message goes to one reader and is removed when the reader acknowledges it
  bool in_memory = false;   ///< the messages are lost when the server restarts
  milliseconds max_age{0};  ///< how long messages are kept; 0: for ever
  std::int64_t per_subject = -1;    ///< how many of the latest messages of a subject are kept; -1: all
  std::int64_t most_messages = -1;  ///< the server refuses further messages; -1: no limit
  milliseconds repeat_window{0};    ///< the server does not store an id again within this time
};

struct Outgoing {
  const char* stream;
  std::string subject;
  std::string payload;
  std::string id;          ///< identifies a repeated message; empty: repeats are not detected
  bool if_absent = false;  ///< store only if the subject has no message
};

struct Put {
  std::uint64_t sequence =
      0;  ///< the message's number in the stream; 0 if the subject already had a message (if_absent)
  bool repeated = false;  ///< whether the server has seen the id before; it may no longer have that message
};

struct Stored {
  std::string payload;
  std::uint64_t sequence = 0;
};

/// A job that the server has given to this process. If it is destroyed without an acknowledgement, the server
/// gives the job to another process after a time. Its functions may be called from any thread. They only
/// send; if the connection loses what they send, the server's timeouts repair that.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual const std::string& payload() const = 0;
  virtual const std::string& id() const = 0;          ///< the id that was stored
  virtual std::uint64_t times_delivered() const = 0;  ///< how often, including this delivery
  virtual void still_working() = 0;
  virtual void done() = 0;
  virtual void hand_back() = 0;
};

/// A reader of a work queue. Not thread-safe: each thread needs its own.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The next job. Null if none arrives within `wait`, or while the server is away.
  virtual std::unique_ptr<Delivery> next(milliseconds wait) = 0;
};

/// A subscription; see Bus::listen(). The destructor ends it, and waits until the running call of its
/// function has returned.
class Listening {
 public:
  virtual ~Listening() = default;
};

/// A connection to the server. Thread-safe. Connects again when the connection breaks off or is closed.
/// Recreates a missing stream that was declared, when a request uses it. Repeats each request until the
/// server answers, a stop is requested (`cancelled`) or `patience` is over (`network`, `disk_full`).
class Bus {
 public:
  virtual ~Bus() = default;

  /// Makes the stream if it does not exist. Leaves an existing stream unchanged.
  virtual Status declare(const StreamSpec& stream, const std::stop_token& stop) = 0;

  /// Returns when the server has stored the message on disk. Further errors: `too_long` (max_payload),
  /// `server_failed` (the stream is full), `disk_full`, `permission`.
  virtual Result<Put> put(const Outgoing& message, const std::stop_token& stop) = 0;

  /// The latest message of a subject, which may have wildcards.
  virtual Result<std::optional<Stored>> latest(const char* stream, const std::string& subject,
                                               const std::stop_token& stop) = 0;

  /// Whether the stream still has the message with that number.
  virtual Result<bool> holds(const char* stream, std::uint64_t sequence, const std::stop_token& stop) = 0;

  /// The subjects that have messages and fit the filter.
  virtual Result<std::vector<std::string>> subjects(const char* stream, const std::string& filter,
                                                    const std::stop_token& stop) = 0;

  /// Removes all messages that match the subject, or the message with that number. Ignores errors, because
  /// the message may already be gone.
  virtual void remove(const char* stream, const std::string& subject) = 0;
  virtual void remove(const char* stream, std::uint64_t sequence) = 0;

  /// Calls `take` with each new message, on a separate thread, while connected. Messages that are put while
  /// disconnected must be fetched with latest().
  virtual Result<std::unique_ptr<Listening>> listen(const std::string& subject,
                                                    std::function<void(std::string_view payload)> take) = 0;

  /// Makes the queue if it does not exist. Returns the queue's own `ack_wait`.
  virtual Result<milliseconds> declare_queue(const char* stream, const std::string& queue,
                                             const std::string& filter, milliseconds ack_wait,
                                             const std::stop_token& stop) = 0;
  /// Recreates the queue if its position is after the existing message `sequence`, because a queue never
  /// delivers a message before its position. That happens if a stream lost messages and reuses their numbers.
  virtual Status mend_queue(const char* stream, const std::string& queue, std::uint64_t sequence,
                            const std::stop_token& stop) = 0;
  virtual Result<std::unique_ptr<JobSource>> jobs(const char* stream, const std::string& queue,
                                                  const std::string& filter) = 0;

  /// The largest size of a message in bytes.
  virtual std::size_t most_bytes() const = 0;
  /// How long the server has been away; 0 while it is there.
  virtual milliseconds away_for() const = 0;
  /// The error of a request whose patience ends while the server is away.
  virtual Error away_error() const = 0;
  /// The reason why a reachable server refuses us.
  virtual std::optional<Error> refusal() const = 0;
  /// The number of connections made so far.
  virtual std::uint64_t connections() const = 0;
  /// The number of streams recreated so far; the messages of these streams are lost.
  virtual std::uint64_t streams_lost() const = 0;
};

struct BusOptions {
  FleetServer server;
  std::string name;                     ///< name of this connection, for the server's own lists
  milliseconds patience{60'000};        ///< patience of requests
  milliseconds first_patience{10'000};  ///< patience of the first connection
  /// Called with the reason why a connected server gives no answer, from several threads. May be empty.
  std::function<void(const std::string&)> tell = {};
};

/// Connects. Errors: `network`, `untrusted` (TLS), `permission` (credentials), `unsupported` (no libnats, or
/// a server without JetStream), `not_found` (a file), `cancelled`.
Result<std::shared_ptr<Bus>> connect(const BusOptions& options, const std::stop_token& stop);

}  // namespace kernelsmith::fleet
