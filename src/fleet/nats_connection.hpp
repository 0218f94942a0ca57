// A connection of libnats with its JetStream context, and what its statuses mean. Used by nats_bus.cpp alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include <nats/nats.h>

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
using MessageMetaData = std::unique_ptr<jsMsgMetaData, Destroy<jsMsgMetaData_Destroy>>;

/// What a call answered: libnats' status, and JetStream's own code where that failed it.
struct Outcome {
  natsStatus status = NATS_OK;
  jsErrCode code = static_cast<jsErrCode>(0);

  bool ok() const { return status == NATS_OK; }
  /// The server is away, or JetStream is not ready yet.
  bool is_passing() const;
};

/// Thread-safe.
class NatsConnection {
 public:
  /// Tries for `options.first_patience`. Errors: as connect().
  static Result<std::shared_ptr<NatsConnection>> open(const BusOptions& options, const std::stop_token& stop);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  natsConnection* connection() const { return connection_; }
  jsCtx* stream() const { return stream_; }

  /// Calls `attempt` until it does not fail in passing. Errors: `network` after the patience, `cancelled`;
  /// any other outcome is the caller's to judge.
  Result<Outcome> insist(const std::function<Outcome()>& attempt, const std::stop_token& stop) const;

  milliseconds away_for() const;
  std::uint64_t connections() const { return connections_.load(); }
  const std::string& url() const { return url_; }

 private:
  explicit NatsConnection(const BusOptions& options)
      : url_(options.server.url), patience_(options.patience) {}
  Outcome try_to_open(natsOptions& options);
  void lost();
  void made();

  const std::string url_;
  const milliseconds patience_;
  natsConnection* connection_ = nullptr;
  jsCtx* stream_ = nullptr;
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<std::int64_t> lost_at_ = 0;  ///< of the steady clock, in milliseconds; 0 while connected
  std::mutex mutex_;
  std::condition_variable closed_changed_;
  bool closed_ = false;  // guarded by mutex_: no callback comes any more
};

/// An Error for what libnats or JetStream refused; `doing` is what was wanted, such as "a job cannot be
/// queued".
Error nats_error(const Outcome& outcome, const std::string& doing, const std::string& url);

}  // namespace kernelsmith::fleet
