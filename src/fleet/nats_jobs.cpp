#include "nats_jobs.hpp"

#include <algorithm>
#include <thread>

namespace kernelsmith::fleet {
namespace {

constexpr milliseconds kFailedFetchPause{50};
constexpr const char* kIdHeader = "Nats-Msg-Id";

class NatsDelivery final : public Delivery {
 public:
  NatsDelivery(std::shared_ptr<NatsConnection> connection, natsMsg* message)
      : connection_(std::move(connection)),
        payload_(payload_of(message)),
        reply_(natsMsg_GetReply(message) ? natsMsg_GetReply(message) : "") {
    const char* id = nullptr;
    if (natsMsgHeader_Get(message, kIdHeader, &id) == NATS_OK && id) id_ = id;
    jsMsgMetaData* data = nullptr;
    if (natsMsg_GetMetaData(&data, message) == NATS_OK) times_ = data->NumDelivered;
    jsMsgMetaData_Destroy(data);
  }

  const std::string& payload() const override { return payload_; }
  const std::string& id() const override { return id_; }
  std::uint64_t times_delivered() const override { return times_; }
  void still_working() override { send("+WPI"); }
  void done() override { send("+ACK"); }
  void hand_back() override { send("-NAK"); }

 private:
  /// Sends over the present link, which may differ from the link that delivered the job.
  void send(const char* what) const {
    natsConnection_PublishString(connection_->link()->connection(), reply_.c_str(), what);
  }

  const std::shared_ptr<NatsConnection> connection_;
  const std::string payload_, reply_;
  std::string id_;
  std::uint64_t times_ = 1;
};

}  // namespace

std::string payload_of(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

Outcome NatsJobSource::begin_on(std::shared_ptr<NatsLink> link) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream_;
  options.Consumer = queue_.c_str();
  natsSubscription* made = nullptr;
  Outcome outcome;
  outcome.status = js_PullSubscribe(&made, link->stream(), filter_.c_str(), queue_.c_str(), nullptr, &options,
                                    &outcome.code);
  if (!outcome.ok()) return outcome;
  subscription_.reset(made);
  link_ = std::move(link);
  return outcome;
}

std::unique_ptr<Delivery> NatsJobSource::next(milliseconds wait) {
  const auto began = std::chrono::steady_clock::now();
  if (auto link = connection_->link(); link != link_) begin_on(std::move(link));
  natsMsgList list{};
  jsErrCode code{};
  natsSubscription_Fetch(&list, subscription_.get(), 1, wait.count(), &code);
  const NatsMessage message(list.Count > 0 ? std::exchange(list.Msgs[0], nullptr) : nullptr);
  natsMsgList_Destroy(&list);
  if (message) return std::make_unique<NatsDelivery>(connection_, message.get());
  // Waits, because the fetch fails at once if there is no connection or no queue.
  std::this_thread::sleep_until(began + std::min(wait, kFailedFetchPause));
  return nullptr;
}

}  // namespace kernelsmith::fleet
