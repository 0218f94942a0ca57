// A lasting connection to the server: a link, which a new link replaces when it is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include <kernelsmith/core/waiting.hpp>

#include "bus.hpp"
#include "nats_link.hpp"

namespace kernelsmith::fleet {

/// Thread-safe.
class NatsConnection {
 public:
  /// Work to repeat on each new link. Must be thread-safe and outlive its registration.
  class OnLink {
   public:
    virtual ~OnLink() = default;
    virtual void begin_on(const std::shared_ptr<NatsLink>& link) = 0;
  };

  /// Tries to connect for `options.first_patience`. Errors: as connect().
  static Result<std::shared_ptr<NatsConnection>> open(const BusOptions& options, const std::stop_token& stop);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  /// The latest link; it may be closed.
  std::shared_ptr<NatsLink> link() const;

  /// Registers work, which is then called for each later link.
  void add(OnLink& one);
  void remove(OnLink& one);

  using Attempt = std::function<Outcome(const NatsLink&)>;
  /// Repeats `attempt` while it fails temporarily. Errors: `network` after the patience, and `cancelled`. The
  /// caller handles any other outcome.
  Result<Outcome> insist(const Attempt& attempt, const std::stop_token& stop) const;

  milliseconds away_for() const;
  /// The reason why a reachable server refuses us.
  std::optional<Error> refusal() const;
  Error away_error() const;
  std::uint64_t connections() const { return connections_.load(); }
  const std::string& url() const { return url_; }

 private:
  NatsConnection(const BusOptions& options, NatsOptions settings)
      : url_(options.server.url),
        patience_(options.patience),
        tell_(options.tell),
        settings_(std::move(settings)) {}
  Outcome try_to_open();
  void happened(NatsLink::Event event);
  void keep_open();
  Error no_answer(const Outcome& outcome) const;

  const std::string url_;
  const milliseconds patience_;
  const std::function<void(const std::string&)> tell_;
  const NatsOptions settings_;
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<std::int64_t> lost_at_ = 0;  ///< time of the steady clock in milliseconds; 0 while connected
  mutable Mutex mutex_;
  std::shared_ptr<NatsLink> link_ KERNELSMITH_GUARDED_BY(mutex_);
  Outcome refused_ KERNELSMITH_GUARDED_BY(mutex_);  // the outcome of the latest attempt to open a link
  Mutex on_link_mutex_;
  std::set<OnLink*> on_link_ KERNELSMITH_GUARDED_BY(on_link_mutex_);
  std::optional<Repeater> keeper_;  ///< comes last, because it uses all members above
};

}  // namespace kernelsmith::fleet
