// The Bus over NATS JetStream, with libnats.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "bus.hpp"
#include "nats_connection.hpp"

namespace kernelsmith::fleet {
namespace {

constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr std::int64_t kMostWaitingPulls = 4096;
constexpr std::int64_t kMostUnacknowledged = 65'536;
constexpr milliseconds kFailedFetchPause{50};
constexpr int kLooksForStream = 20;
constexpr milliseconds kStreamPause{50};
constexpr const char* kIdHeader = "Nats-Msg-Id";

std::int64_t nanoseconds(milliseconds time) { return time.count() * kNanosecondsPerMillisecond; }

bool is_absent(const Outcome& outcome) {
  return outcome.status == NATS_NOT_FOUND || outcome.code == JSNoMessageFoundErr;
}

std::string payload_of(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

class NatsDelivery final : public Delivery {
 public:
  /// `connection` outlives the delivery.
  NatsDelivery(std::shared_ptr<NatsConnection> connection, NatsMessage message)
      : connection_(std::move(connection)),
        message_(std::move(message)),
        payload_(payload_of(message_.get())),
        subject_(natsMsg_GetSubject(message_.get())) {
    const char* id = nullptr;
    if (natsMsgHeader_Get(message_.get(), kIdHeader, &id) == NATS_OK && id) id_ = id;
    jsMsgMetaData* data = nullptr;
    if (natsMsg_GetMetaData(&data, message_.get()) == NATS_OK) times_ = data->NumDelivered;
    jsMsgMetaData_Destroy(data);
  }

  const std::string& payload() const override { return payload_; }
  const std::string& subject() const override { return subject_; }
  const std::string& id() const override { return id_; }
  std::uint64_t times_delivered() const override { return times_; }
  void still_working() override { send(natsMsg_InProgress); }
  void done() override { send(natsMsg_Ack); }
  void hand_back() override { send(natsMsg_Nak); }

 private:
  void send(natsStatus (*what)(natsMsg*, jsOptions*)) {
    const std::lock_guard lock(mutex_);
    what(message_.get(), nullptr);
  }

  const std::shared_ptr<NatsConnection> connection_;
  std::mutex mutex_;
  const NatsMessage message_;
  const std::string payload_, subject_;
  std::string id_;
  std::uint64_t times_ = 1;
};

class NatsJobSource final : public JobSource {
 public:
  NatsJobSource(std::shared_ptr<NatsConnection> connection, NatsSubscription subscription)
      : connection_(std::move(connection)), subscription_(std::move(subscription)) {}

  std::unique_ptr<Delivery> next(milliseconds wait) override {
    const auto began = std::chrono::steady_clock::now();
    natsMsgList list{};
    jsErrCode code{};
    natsSubscription_Fetch(&list, subscription_.get(), 1, wait.count(), &code);
    NatsMessage message(list.Count > 0 ? std::exchange(list.Msgs[0], nullptr) : nullptr);
    natsMsgList_Destroy(&list);
    if (!message) {
      // Without a connection or a queue it fails at once.
      std::this_thread::sleep_until(began + std::min(wait, kFailedFetchPause));
      return nullptr;
    }
    return std::make_unique<NatsDelivery>(connection_, std::move(message));
  }

 private:
  const std::shared_ptr<NatsConnection> connection_;
  const NatsSubscription subscription_;
};

class NatsListening final : public Listening {
 public:
  NatsListening(std::shared_ptr<NatsConnection> connection, std::function<void(std::string_view)> take)
      : connection_(std::move(connection)), take_(std::move(take)) {}

  Outcome begin(const std::string& subject) {
    natsSubscription* made = nullptr;
    Outcome outcome{
        natsConnection_Subscribe(&made, connection_->connection(), subject.c_str(), on_message, this), {}};
    if (!outcome.ok()) return outcome;
    subscription_.reset(made);
    natsSubscription_SetPendingLimits(made, -1, -1);
    natsSubscription_SetOnCompleteCB(
        made,
        [](void* self) {
          auto& listening = *static_cast<NatsListening*>(self);
          const std::lock_guard lock(listening.mutex_);
          listening.ended_ = true;
          listening.ended_changed_.notify_all();
        },
        this);
    outcome.status = natsConnection_Flush(connection_->connection());
    return outcome;
  }

  ~NatsListening() override {
    if (!subscription_) return;
    natsSubscription_Unsubscribe(subscription_.get());
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [this] { return ended_; });
  }

 private:
  static void on_message(natsConnection*, natsSubscription*, natsMsg* raw, void* self) {
    const NatsMessage message(raw);
    static_cast<NatsListening*>(self)->take_(
        {natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw))});
  }

  const std::shared_ptr<NatsConnection> connection_;
  const std::function<void(std::string_view)> take_;
  NatsSubscription subscription_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;  // guarded by mutex_
};

class NatsBus final : public Bus {
 public:
  explicit NatsBus(std::shared_ptr<NatsConnection> connection) : connection_(std::move(connection)) {}

  Status declare(const StreamSpec& spec, const std::stop_token& stop) override {
    const char* subjects[] = {spec.subjects};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = spec.name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Retention = spec.work_queue ? js_WorkQueuePolicy : js_LimitsPolicy;
    config.Storage = spec.in_memory ? js_MemoryStorage : js_FileStorage;
    config.MaxAge = nanoseconds(spec.max_age);
    config.MaxMsgsPerSubject = spec.per_subject;
    config.MaxMsgs = spec.most_messages;
    config.Discard = spec.most_messages > 0 ? js_DiscardNew : js_DiscardOld;
    config.Duplicates = nanoseconds(spec.repeat_window);
    config.AllowDirect = true;
    const auto outcome = connection_->insist(
        [&] {
          Outcome made;
          made.status = js_AddStream(nullptr, connection_->stream(), &config, nullptr, &made.code);
          // With other limits: somebody set them. Or somebody makes it at this moment.
          if (made.code == JSStreamNameExistErr ||
              (made.code == JSStreamSubjectOverlapErr && appears(spec.name)))
            made = {};
          return made;
        },
        stop);
    return verdict(outcome, std::string("the stream ") + spec.name + " cannot be made");
  }

  Result<Put> put(const Outgoing& message, const std::stop_token& stop) override {
    if (message.payload.size() > most_bytes())
      return nats_error({NATS_MAX_PAYLOAD, {}},
                        "a message of " + std::to_string(message.payload.size()) + " bytes cannot be sent",
                        connection_->url());
    Put answer;
    const auto outcome = connection_->insist([&] { return try_to_put(message, answer); }, stop);
    if (const Status ok = verdict(outcome, "a message cannot be put into " + std::string(message.stream));
        !ok)
      return ok.error();
    return answer;
  }

  Result<std::optional<Stored>> latest(const char* stream, const std::string& subject,
                                       const std::stop_token& stop) override {
    std::optional<Stored> found;
    const auto outcome = connection_->insist(
        [&] {
          Outcome got;
          natsMsg* raw = nullptr;
          got.status =
              js_GetLastMsg(&raw, connection_->stream(), stream, subject.c_str(), nullptr, &got.code);
          const NatsMessage message(raw);
          if (got.ok()) found = Stored{payload_of(raw), natsMsg_GetSequence(raw)};
          return is_absent(got) ? Outcome{} : got;
        },
        stop);
    if (const Status ok = verdict(outcome, "a message of " + std::string(stream) + " cannot be read"); !ok)
      return ok.error();
    return found;
  }

  Result<bool> holds(const char* stream, std::uint64_t sequence, const std::stop_token& stop) override {
    bool there = false;
    const auto outcome = connection_->insist(
        [&] {
          Outcome got;
          natsMsg* raw = nullptr;
          got.status = js_GetMsg(&raw, connection_->stream(), stream, sequence, nullptr, &got.code);
          const NatsMessage message(raw);
          there = got.ok();
          return is_absent(got) ? Outcome{} : got;
        },
        stop);
    if (const Status ok = verdict(outcome, "a message of " + std::string(stream) + " cannot be read"); !ok)
      return ok.error();
    return there;
  }

  Result<std::vector<std::string>> subjects(const char* stream, const std::string& filter,
                                            const std::stop_token& stop) override {
    std::vector<std::string> found;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = filter.c_str();
    const auto outcome = connection_->insist(
        [&] {
          Outcome got;
          jsStreamInfo* raw = nullptr;
          got.status = js_GetStreamInfo(&raw, connection_->stream(), stream, &options, &got.code);
          const StreamInfo info(raw);
          found.clear();
          if (got.ok() && info->State.Subjects)
            for (int i = 0; i < info->State.Subjects->Count; ++i)
              found.emplace_back(info->State.Subjects->List[i].Subject);
          return got;
        },
        stop);
    if (const Status ok = verdict(outcome, "the stream " + std::string(stream) + " cannot be read"); !ok)
      return ok.error();
    return found;
  }

  void remove(const char* stream, const std::string& subject) override {
    if (away_for().count() > 0) return;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = subject.c_str();
    js_PurgeStream(connection_->stream(), stream, &options, nullptr);
  }

  void remove(const char* stream, std::uint64_t sequence) override {
    if (away_for().count() > 0) return;
    js_DeleteMsg(connection_->stream(), stream, sequence, nullptr, nullptr);
  }

  Result<std::unique_ptr<Listening>> listen(const std::string& subject,
                                            std::function<void(std::string_view)> take) override {
    auto listening = std::make_unique<NatsListening>(connection_, std::move(take));
    // Without a connection it begins with the next one.
    if (const Outcome begun = listening->begin(subject); !begun.ok() && !begun.is_passing())
      return nats_error(begun, "results cannot be listened to", connection_->url());
    return listening;
  }

  Result<milliseconds> declare_queue(const char* stream, const std::string& queue, const std::string& filter,
                                     milliseconds ack_wait, const std::stop_token& stop) override {
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.Durable = queue.c_str();
    config.FilterSubject = filter.c_str();
    config.AckPolicy = js_AckExplicit;
    config.AckWait = nanoseconds(ack_wait);
    config.MaxWaiting = kMostWaitingPulls;
    config.MaxAckPending = kMostUnacknowledged;
    std::int64_t found_wait = config.AckWait;
    const auto outcome = connection_->insist(
        [&] {
          Outcome got;
          jsConsumerInfo* raw = nullptr;
          got.status =
              js_GetConsumerInfo(&raw, connection_->stream(), stream, queue.c_str(), nullptr, &got.code);
          if (is_absent(got) || got.code == JSConsumerNotFoundErr) {
            got = {};
            got.status = js_AddConsumer(&raw, connection_->stream(), stream, &config, nullptr, &got.code);
          }
          const ConsumerInfo info(raw);
          if (got.ok()) found_wait = info->Config->AckWait;
          return got;
        },
        stop);
    if (const Status ok = verdict(outcome, "the queue " + queue + " cannot be made"); !ok) return ok.error();
    return milliseconds(found_wait / kNanosecondsPerMillisecond);
  }

  Result<std::unique_ptr<JobSource>> jobs(const char* stream, const std::string& queue,
                                          const std::string& filter) override {
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = stream;
    options.Consumer = queue.c_str();
    natsSubscription* raw = nullptr;
    const auto outcome = connection_->insist(
        [&] {
          Outcome made;
          made.status = js_PullSubscribe(&raw, connection_->stream(), filter.c_str(), queue.c_str(), nullptr,
                                         &options, &made.code);
          return made;
        },
        {});
    if (const Status ok = verdict(outcome, "the queue " + queue + " cannot be read"); !ok) return ok.error();
    return std::make_unique<NatsJobSource>(connection_, NatsSubscription(raw));
  }

  std::size_t most_bytes() const override {
    return static_cast<std::size_t>(natsConnection_GetMaxPayload(connection_->connection()));
  }
  milliseconds away_for() const override { return connection_->away_for(); }
  std::uint64_t connections() const override { return connection_->connections(); }

 private:
  /// Of two that make a stream at once the server tells one that its subjects are taken.
  bool appears(const char* stream) {
    for (int look = 0; look < kLooksForStream; ++look) {
      jsStreamInfo* raw = nullptr;
      jsErrCode code{};
      const natsStatus status = js_GetStreamInfo(&raw, connection_->stream(), stream, nullptr, &code);
      const StreamInfo info(raw);
      if (status == NATS_OK) return true;
      std::this_thread::sleep_for(kStreamPause);
    }
    return false;
  }

  Outcome try_to_put(const Outgoing& message, Put& answer) {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.ExpectStream = message.stream;
    if (!message.id.empty()) options.MsgId = message.id.c_str();
    options.ExpectNoMessage = message.if_absent;
    Outcome put;
    jsPubAck* raw = nullptr;
    put.status = js_Publish(&raw, connection_->stream(), message.subject.c_str(), message.payload.data(),
                            static_cast<int>(message.payload.size()), &options, &put.code);
    const PublishAck ack(raw);
    if (put.ok()) answer = {ack->Sequence, ack->Duplicate};
    if (message.if_absent && put.code == JSStreamWrongLastSequenceErr) {
      answer = {};
      return {};
    }
    return put;
  }

  Status verdict(const Result<Outcome>& outcome, const std::string& doing) const {
    if (!outcome) return outcome.error();
    if (outcome->ok()) return {};
    return nats_error(*outcome, doing, connection_->url());
  }

  const std::shared_ptr<NatsConnection> connection_;
};

}  // namespace

Result<std::shared_ptr<Bus>> connect(const BusOptions& options, const std::stop_token& stop) {
  auto connection = NatsConnection::open(options, stop);
  if (!connection) return connection.error();
  return std::make_shared<NatsBus>(std::move(*connection));
}

}  // namespace kernelsmith::fleet
