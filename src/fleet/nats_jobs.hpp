// Jobs that come over NATS.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bus.hpp"
#include "nats_connection.hpp"

namespace kernelsmith::fleet {

/// Not thread-safe. Reads from the connection's present link.
class NatsJobSource final : public JobSource {
 public:
  NatsJobSource(std::shared_ptr<NatsConnection> connection, const char* stream, std::string queue,
                std::string filter)
      : connection_(std::move(connection)),
        stream_(stream),
        queue_(std::move(queue)),
        filter_(std::move(filter)) {}

  Outcome begin_on(std::shared_ptr<NatsLink> link);
  std::unique_ptr<Delivery> next(milliseconds wait) override;

 private:
  const std::shared_ptr<NatsConnection> connection_;
  const char* const stream_;
  const std::string queue_, filter_;
  std::shared_ptr<NatsLink> link_;  ///< the link of the subscription, which it must outlive
  NatsSubscription subscription_;
};

std::string payload_of(natsMsg* message);

}  // namespace kernelsmith::fleet
