// A link: one connection of libnats with its JetStream context, from opening to closing. If it breaks off,
// libnats reconnects; once closed (refused credentials, unreadable data) it stays closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nats/nats.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/result.hpp>

#include "bus.hpp"

namespace kernelsmith::fleet {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};

using NatsOptions = std::unique_ptr<natsOptions, Destroy<natsOptions_Destroy>>;
using NatsMessage = std::unique_ptr<natsMsg, Destroy<natsMsg_Destroy>>;
using NatsSubscription = std::unique_ptr<natsSubscription, Destroy<natsSubscription_Destroy>>;
using StreamInfo = std::unique_ptr<jsStreamInfo, Destroy<jsStreamInfo_Destroy>>;
using ConsumerInfo = std::unique_ptr<jsConsumerInfo, Destroy<jsConsumerInfo_Destroy>>;
using PublishAck = std::unique_ptr<jsPubAck, Destroy<jsPubAck_Destroy>>;

/// The outcome of a call: libnats' status, and JetStream's code if JetStream failed.
struct Outcome {
  natsStatus status = NATS_OK;
  jsErrCode code = static_cast<jsErrCode>(0);
  std::string said = {};  ///< the server's message about a failure to store

  bool ok() const { return status == NATS_OK; }
  /// Whether the server is away, or JetStream is not ready yet.
  bool is_passing() const;
  /// Whether a repetition may succeed: is_passing(), an unreadable answer, no space, or no JetStream on a
  /// server that had it.
  bool may_pass() const;
  bool lacks_room() const;
  bool lacks_jetstream() const;
};

/// The settings of a link. Errors: `not_found` (a file), `bad_input`.
Result<NatsOptions> options_for(const BusOptions& wanted);

/// Thread-safe.
class NatsLink {
 public:
  enum class Event { lost, made, closed };
  /// Threads of libnats call it.
  using Happened = std::function<void(Event)>;

  /// Tries once to connect. Returns null if `outcome` is not ok.
  static std::shared_ptr<NatsLink> open(natsOptions& options, Happened happened, Outcome& outcome);
  ~NatsLink();
  NatsLink(const NatsLink&) = delete;
  NatsLink& operator=(const NatsLink&) = delete;

  natsConnection* connection() const { return connection_; }
  jsCtx* stream() const { return stream_; }
  /// The largest size of a message, as the server reported it when the link connected.
  std::int64_t most_bytes() const { return most_bytes_.load(); }
  bool is_closed() const;
  /// Closes the link; used if the server gives impossible answers.
  void close() const;

 private:
  explicit NatsLink(Happened happened) : happened_(std::move(happened)) {}
  Outcome connect(natsOptions& options);
  void measure();
  template <Event event>
  static void on_event(natsConnection*, void* self);

  const Happened happened_;
  natsConnection* connection_ = nullptr;
  jsCtx* stream_ = nullptr;
  std::atomic<std::int64_t> most_bytes_ = 0;
  mutable Mutex mutex_;
  Condition closed_changed_;
  bool closed_ KERNELSMITH_GUARDED_BY(mutex_) = false;  // whether libnats makes no more callbacks
};

/// An Error for a failure of libnats or JetStream; `doing` names the failed action, such as "a job cannot be
/// queued".
Error nats_error(const Outcome& outcome, const std::string& doing, const std::string& url);

}  // namespace kernelsmith::fleet
