// A subscription to a stream that survives changes of the link.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/mutex.hpp>

#include "bus.hpp"
#include "nats_connection.hpp"

namespace kernelsmith::fleet {

/// A subscription on one link. The destructor waits until the running call of its function has returned.
class Subscribed {
 public:
  Subscribed(const NatsLink& link, const std::string& subject, natsMsgHandler take, void* taker) {
    natsSubscription* made = nullptr;
    outcome_.status = natsConnection_Subscribe(&made, link.connection(), subject.c_str(), take, taker);
    if (!outcome_.ok()) return;
    subscription_.reset(made);
    natsSubscription_SetPendingLimits(made, -1, -1);
    natsSubscription_SetOnCompleteCB(
        made,
        [](void* self) {
          auto& subscribed = *static_cast<Subscribed*>(self);
          const MutexLock lock(subscribed.mutex_);
          subscribed.ended_ = true;
          subscribed.ended_changed_.notify_all();
        },
        this);
    outcome_.status = natsConnection_Flush(link.connection());
  }
  ~Subscribed() {
    if (!subscription_) return;
    natsSubscription_Unsubscribe(subscription_.get());
    MutexLock lock(mutex_);
    ended_changed_.wait(lock, [this]() KERNELSMITH_REQUIRES(mutex_) { return ended_; });
  }
  Subscribed(const Subscribed&) = delete;
  Subscribed& operator=(const Subscribed&) = delete;

  const Outcome& outcome() const { return outcome_; }

 private:
  Outcome outcome_;
  NatsSubscription subscription_;
  Mutex mutex_;
  Condition ended_changed_;
  bool ended_ KERNELSMITH_GUARDED_BY(mutex_) = false;
};

class NatsListening final : public Listening, private NatsConnection::OnLink {
 public:
  NatsListening(std::shared_ptr<NatsConnection> connection, std::string subject,
                std::function<void(std::string_view)> take)
      : connection_(std::move(connection)), subject_(std::move(subject)), take_(std::move(take)) {
    connection_->add(*this);
  }
  ~NatsListening() override { connection_->remove(*this); }

  Outcome begin() {
    std::shared_ptr<NatsLink> link;
    do begin_on(link = connection_->link());
    while (link != connection_->link());
    const MutexLock lock(mutex_);
    return subscribed_->outcome();
  }

 private:
  void begin_on(const std::shared_ptr<NatsLink>& link) override {
    const MutexLock lock(mutex_);
    if (link_ == link) return;
    subscribed_ = std::make_unique<Subscribed>(*link, subject_, on_message, this);
    link_ = link;
  }

  static void on_message(natsConnection*, natsSubscription*, natsMsg* raw, void* self) {
    const NatsMessage message(raw);
    static_cast<NatsListening*>(self)->take_(
        {natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw))});
  }

  const std::shared_ptr<NatsConnection> connection_;
  const std::string subject_;
  const std::function<void(std::string_view)> take_;
  Mutex mutex_;
  std::shared_ptr<NatsLink> link_ KERNELSMITH_GUARDED_BY(mutex_);  // the link must outlive the subscription
  std::unique_ptr<Subscribed> subscribed_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::fleet
