// The Bus seam: what the fleet needs of a queue that keeps messages. NATS JetStream is behind it, in
// nats_bus.cpp alone; without libnats, no_nats.cpp says so.
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

/// A stream: messages kept by the server, for a time.
struct StreamSpec {
  const char* name;
  const char* subjects;
  bool work_queue = false;        ///< a message goes to one reader and is gone when that one acknowledges it
  bool in_memory = false;         ///< of no use to a server that was started anew
  milliseconds max_age{0};        ///< 0: for ever
  std::int64_t per_subject = -1;  ///< the latest messages of a subject that are kept; -1: all
  std::int64_t most_messages = -1;  ///< beyond it nothing is taken; -1: no limit
  milliseconds repeat_window{0};    ///< a message with an id that came within it is not kept again
};

struct Outgoing {
  const char* stream;
  std::string subject;
  std::string payload;
  std::string id;          ///< empty: repeats are not told apart
  bool if_absent = false;  ///< only if the subject has no message: see Bus::put()
};

struct Put {
  std::uint64_t sequence = 0;  ///< in the stream; 0 if something was there already (if_absent)
  bool repeated = false;       ///< the id came before; the message may be gone since
};

struct Stored {
  std::string payload;
  std::uint64_t sequence = 0;
};

/// A job in the hands of this process. Destroyed unacknowledged, it goes to another one after a time. Its
/// functions may be called from any thread, and send only: what is lost with the connection is mended by
/// time.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual const std::string& payload() const = 0;
  virtual const std::string& id() const = 0;          ///< as it was put
  virtual std::uint64_t times_delivered() const = 0;  ///< this one included
  virtual void still_working() = 0;
  virtual void done() = 0;
  virtual void hand_back() = 0;
};

/// A reader of a work queue. Not thread-safe: one for each thread.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// The next job, or none within `wait`; also none while the server is away.
  virtual std::unique_ptr<Delivery> next(milliseconds wait) = 0;
};

/// Ends listening when it is destroyed, and returns when the function runs no more.
class Listening {
 public:
  virtual ~Listening() = default;
};

/// A connection to the server. Thread-safe. It is made anew when it breaks off or is closed, and a stream
/// that was declared and is gone is made anew when it is asked for; requests are tried again until the server
/// answers, a stop is requested (`cancelled`) or `patience` is over (`network`, `disk_full`).
class Bus {
 public:
  virtual ~Bus() = default;

  /// Makes the stream if it is not there. One that is there stays as it is.
  virtual Status declare(const StreamSpec& stream, const std::stop_token& stop) = 0;

  /// Returns when the server has it on its disk. Errors beside those above: `too_long` (max_payload),
  /// `server_failed` (the stream is full), `disk_full`, `permission`.
  virtual Result<Put> put(const Outgoing& message, const std::stop_token& stop) = 0;

  /// The latest message of a subject, which may hold wildcards.
  virtual Result<std::optional<Stored>> latest(const char* stream, const std::string& subject,
                                               const std::stop_token& stop) = 0;

  /// Whether the stream still has that message.
  virtual Result<bool> holds(const char* stream, std::uint64_t sequence, const std::stop_token& stop) = 0;

  /// The subjects that have messages and fit the filter.
  virtual Result<std::vector<std::string>> subjects(const char* stream, const std::string& filter,
                                                    const std::stop_token& stop) = 0;

  /// Takes away what fits the subject, or the one message. Errors do not matter to the caller: it may be
  /// gone.
  virtual void remove(const char* stream, const std::string& subject) = 0;
  virtual void remove(const char* stream, std::uint64_t sequence) = 0;

  /// Calls `take` with each message that is put from now on, on a thread of its own, while there is a
  /// connection: what is put meanwhile has to be looked for.
  virtual Result<std::unique_ptr<Listening>> listen(const std::string& subject,
                                                    std::function<void(std::string_view payload)> take) = 0;

  /// Makes the queue if it is not there; `ack_wait` becomes what the queue has.
  virtual Result<milliseconds> declare_queue(const char* stream, const std::string& queue,
                                             const std::string& filter, milliseconds ack_wait,
                                             const std::stop_token& stop) = 0;
  /// A queue that has passed a message never hands it out: one that has passed this message, which is there
  /// still, is made anew. For a stream that lost messages and numbers new ones as it did those.
  virtual Status mend_queue(const char* stream, const std::string& queue, std::uint64_t sequence,
                            const std::stop_token& stop) = 0;
  virtual Result<std::unique_ptr<JobSource>> jobs(const char* stream, const std::string& queue,
                                                  const std::string& filter) = 0;

  /// Bytes that a message may have.
  virtual std::size_t most_bytes() const = 0;
  /// How long the server has been away; 0 while it is there.
  virtual milliseconds away_for() const = 0;
  /// What a request gets after the patience while the server is away.
  virtual Error away_error() const = 0;
  /// Why a server that is there lets us in no more.
  virtual std::optional<Error> refusal() const = 0;
  /// Connections made so far.
  virtual std::uint64_t connections() const = 0;
  /// Streams made anew so far: what was in them is gone.
  virtual std::uint64_t streams_lost() const = 0;
};

struct BusOptions {
  FleetServer server;
  std::string name;                     ///< of this connection, for the server's own lists
  milliseconds patience{60'000};        ///< of requests
  milliseconds first_patience{10'000};  ///< of the first connection
  /// Called from several threads with why a server that is there gives no answer; may be empty.
  std::function<void(const std::string&)> tell = {};
};

/// Connects. Errors: `network`, `untrusted` (TLS), `permission` (credentials), `unsupported` (no libnats, or
/// a server without JetStream), `not_found` (a file), `cancelled`.
Result<std::shared_ptr<Bus>> connect(const BusOptions& options, const std::stop_token& stop);

}  // namespace kernelsmith::fleet
