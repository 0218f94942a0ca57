// The Bus over NATS JetStream, with libnats.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include <kernelsmith/core/mutex.hpp>

#include "bus.hpp"
#include "nats_connection.hpp"
#include "nats_jobs.hpp"
#include "nats_listening.hpp"

namespace kernelsmith::fleet {
namespace {

constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr std::int64_t kMostWaitingPulls = 4096;
constexpr std::int64_t kMostUnacknowledged = 65'536;
constexpr int kLooksForStream = 20;
constexpr milliseconds kStreamPause{50};
/// The pause after deleting a stream. The server (2.9.10) removes the files only after it has confirmed the
/// deletion, and would also remove those of a new stream with the same name.
constexpr milliseconds kDeletionPause{500};
/// The most bytes of the headers of a message, which count in addition to its payload.
constexpr std::int64_t kMostHeaders = 1024;

std::int64_t nanoseconds(milliseconds time) { return time.count() * kNanosecondsPerMillisecond; }

bool is_absent(const Outcome& outcome) {
  return outcome.status == NATS_NOT_FOUND || outcome.code == JSNoMessageFoundErr;
}

class NatsBus final : public Bus {
 public:
  explicit NatsBus(std::shared_ptr<NatsConnection> connection) : connection_(std::move(connection)) {}

  Status declare(const StreamSpec& spec, const std::stop_token& stop) override {
    {
      const MutexLock lock(mutex_);
      declared_[spec.name] = spec;
    }
    const auto outcome =
        connection_->insist([&](const NatsLink& link) { return try_to_declare(link, spec); }, stop);
    return verdict(outcome, std::string("the stream ") + spec.name + " cannot be made");
  }

  Result<Put> put(const Outgoing& message, const std::stop_token& stop) override {
    Put answer;
    const auto outcome = ask(
        message.stream, [&](const NatsLink& link) { return try_to_put(link, message, answer); }, stop);
    if (outcome && outcome->status == NATS_MAX_PAYLOAD)
      return nats_error(*outcome,
                        "a message of " + std::to_string(message.payload.size()) + " bytes cannot be sent",
                        connection_->url());
    if (const Status ok = verdict(outcome, "a message cannot be put into " + std::string(message.stream));
        !ok)
      return ok.error();
    return answer;
  }

  Result<std::optional<Stored>> latest(const char* stream, const std::string& subject,
                                       const std::stop_token& stop) override {
    std::optional<Stored> found;
    const auto outcome = ask(
        stream,
        [&](const NatsLink& link) {
          Outcome got;
          natsMsg* raw = nullptr;
          got.status = js_GetLastMsg(&raw, link.stream(), stream, subject.c_str(), nullptr, &got.code);
          const NatsMessage message(raw);
          if (got.ok()) found = Stored{payload_of(raw), natsMsg_GetSequence(raw)};
          return is_absent(got) ? absence_in(link, stream) : got;
        },
        stop);
    if (const Status ok = verdict(outcome, "a message of " + std::string(stream) + " cannot be read"); !ok)
      return ok.error();
    return found;
  }

  Result<bool> holds(const char* stream, std::uint64_t sequence, const std::stop_token& stop) override {
    bool there = false;
    const auto outcome = ask(
        stream,
        [&](const NatsLink& link) {
          Outcome got;
          natsMsg* raw = nullptr;
          got.status = js_GetMsg(&raw, link.stream(), stream, sequence, nullptr, &got.code);
          const NatsMessage message(raw);
          there = got.ok();
          return is_absent(got) ? absence_in(link, stream) : got;
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
    const auto outcome = ask(
        stream,
        [&](const NatsLink& link) {
          Outcome got;
          jsStreamInfo* raw = nullptr;
          got.status = js_GetStreamInfo(&raw, link.stream(), stream, &options, &got.code);
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
    js_PurgeStream(connection_->link()->stream(), stream, &options, nullptr);
  }

  void remove(const char* stream, std::uint64_t sequence) override {
    if (away_for().count() > 0) return;
    js_DeleteMsg(connection_->link()->stream(), stream, sequence, nullptr, nullptr);
  }

  Result<std::unique_ptr<Listening>> listen(const std::string& subject,
                                            std::function<void(std::string_view)> take) override {
    auto listening = std::make_unique<NatsListening>(connection_, subject, std::move(take));
    // Without a connection, listening begins with the next connection.
    if (const Outcome begun = listening->begin(); !begun.ok() && !begun.may_pass())
      return nats_error(begun, "results cannot be received", connection_->url());
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
    const auto outcome = ask(
        stream,
        [&](const NatsLink& link) {
          Outcome got;
          jsConsumerInfo* raw = nullptr;
          got.status = js_GetConsumerInfo(&raw, link.stream(), stream, queue.c_str(), nullptr, &got.code);
          if (is_absent(got) || got.code == JSConsumerNotFoundErr) {
            got = {};
            got.status = js_AddConsumer(&raw, link.stream(), stream, &config, nullptr, &got.code);
          }
          const ConsumerInfo info(raw);
          if (got.ok()) found_wait = info->Config->AckWait;
          return got;
        },
        stop);
    if (const Status ok = verdict(outcome, "the queue " + queue + " cannot be made"); !ok) return ok.error();
    return milliseconds(found_wait / kNanosecondsPerMillisecond);
  }

  Status mend_queue(const char* stream, const std::string& queue, std::uint64_t sequence,
                    const std::stop_token& stop) override {
    const auto outcome = ask(
        stream, [&](const NatsLink& link) { return try_to_mend(link, stream, queue, sequence); }, stop);
    return verdict(outcome,
                   "the queue " + queue + ", whose position is after a waiting job, cannot be recreated");
  }

  Result<std::unique_ptr<JobSource>> jobs(const char* stream, const std::string& queue,
                                          const std::string& filter) override {
    auto source = std::make_unique<NatsJobSource>(connection_, stream, queue, filter);
    const auto outcome =
        ask(stream, [&](const NatsLink&) { return source->begin_on(connection_->link()); }, {});
    if (const Status ok = verdict(outcome, "the queue " + queue + " cannot be read"); !ok) return ok.error();
    return source;
  }

  std::size_t most_bytes() const override {
    return static_cast<std::size_t>(connection_->link()->most_bytes());
  }
  milliseconds away_for() const override { return connection_->away_for(); }
  Error away_error() const override { return connection_->away_error(); }
  std::optional<Error> refusal() const override { return connection_->refusal(); }
  std::uint64_t connections() const override { return connection_->connections(); }
  std::uint64_t streams_lost() const override { return streams_lost_.load(); }

 private:
  /// Repeats the attempt as insist() does, and recreates the stream if it is missing.
  Result<Outcome> ask(const char* stream, const NatsConnection::Attempt& attempt,
                      const std::stop_token& stop) {
    return connection_->insist(
        [&](const NatsLink& link) {
          const Outcome outcome = attempt(link);
          return is_gone(link, stream, outcome) ? make_anew(link, stream, outcome) : outcome;
        },
        stop);
  }

  /// Whether the stream is missing. Checks that after a request without an answer, because a message for a
  /// missing stream gets none, as if there were no JetStream. The same is true of a result for which a run
  /// listens.
  static bool is_gone(const NatsLink& link, const char* stream, Outcome outcome) {
    if (outcome.status == NATS_NO_RESPONDERS || outcome.status == NATS_TIMEOUT || outcome.lacks_jetstream())
      outcome = info_of(link, stream);
    return outcome.code == JSStreamNotFoundErr;
  }

  static Outcome info_of(const NatsLink& link, const char* stream) {
    jsStreamInfo* raw = nullptr;
    Outcome outcome = info_of(link, stream, raw);
    jsStreamInfo_Destroy(raw);
    return outcome;
  }

  static Outcome info_of(const NatsLink& link, const char* stream, jsStreamInfo*& info) {
    Outcome outcome;
    outcome.status = js_GetStreamInfo(&info, link.stream(), stream, nullptr, &outcome.code);
    if (outcome.status == NATS_NOT_FOUND) outcome.code = JSStreamNotFoundErr;
    return outcome;
  }

  /// The outcome if a message is missing. That is normal, unless the stream lost its files. In that case its
  /// first message is missing too, and the stream is deleted, so that it is recreated.
  static Outcome absence_in(const NatsLink& link, const char* stream) {
    const auto first_of = [&]() -> std::uint64_t {
      jsStreamInfo* raw = nullptr;
      const Outcome looked = info_of(link, stream, raw);
      const StreamInfo info(raw);
      return looked.ok() && info->State.Msgs > 0 ? info->State.FirstSeq : 0;
    };
    const std::uint64_t first = first_of();
    if (first == 0) return {};
    natsMsg* raw = nullptr;
    Outcome got;
    got.status = js_GetMsg(&raw, link.stream(), stream, first, nullptr, &got.code);
    const NatsMessage message(raw);
    if (!is_absent(got) || first_of() != first)
      return {};  // the first message may have been removed meanwhile
    return without(link, stream);
  }

  /// Deletes a stream whose files are lost, so that it is recreated.
  static Outcome without(const NatsLink& link, const char* stream) {
    js_DeleteStream(link.stream(), stream, nullptr, nullptr);
    return {NATS_ERR, JSStreamNotFoundErr};
  }

  Outcome make_anew(const NatsLink& link, const char* stream, const Outcome& gone) {
    StreamSpec spec{};
    {
      const MutexLock lock(mutex_);
      const auto declared = declared_.find(stream);
      if (declared == declared_.end()) return gone;
      spec = declared->second;
    }
    std::this_thread::sleep_for(kDeletionPause);
    Outcome made = try_to_declare(link, spec);
    if (!made.ok()) return made;
    ++streams_lost_;
    return {NATS_TIMEOUT, {}};  // makes insist() repeat the request
  }

  Outcome try_to_declare(const NatsLink& link, const StreamSpec& spec) {
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
    Outcome made;
    made.status = js_AddStream(nullptr, link.stream(), &config, nullptr, &made.code);
    // Not an error: the stream exists with other limits, or another process is making it now.
    if (made.code == JSStreamNameExistErr ||
        (made.code == JSStreamSubjectOverlapErr && appears(link, spec.name)))
      made = {};
    return made;
  }

  /// Waits for a stream that another process makes. If two processes make a stream at once, the server tells
  /// one of them that its subjects are taken.
  static bool appears(const NatsLink& link, const char* stream) {
    for (int look = 0; look < kLooksForStream; ++look) {
      if (info_of(link, stream).ok()) return true;
      std::this_thread::sleep_for(kStreamPause);
    }
    return false;
  }

  static Outcome try_to_put(const NatsLink& link, const Outgoing& message, Put& answer) {
    const auto size = static_cast<std::int64_t>(message.payload.size());
    if (size > link.most_bytes()) return {NATS_MAX_PAYLOAD, {}};
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.ExpectStream = message.stream;
    if (!message.id.empty()) options.MsgId = message.id.c_str();
    options.ExpectNoMessage = message.if_absent;
    Outcome put;
    jsPubAck* raw = nullptr;
    put.status = js_Publish(&raw, link.stream(), message.subject.c_str(), message.payload.data(),
                            static_cast<int>(size), &options, &put.code);
    const PublishAck ack(raw);
    if (put.ok()) answer = {ack->Sequence, ack->Duplicate};
    if (message.if_absent && put.code == JSStreamWrongLastSequenceErr) {
      answer = {};
      return {};
    }
    if (put.status == NATS_MAX_PAYLOAD && size + kMostHeaders < link.most_bytes()) {
      link.close();  // the limit that the link has read belongs to another server
      return {NATS_CONNECTION_CLOSED, {}};
    }
    return put.code == JSStreamStoreFailedErr ? reason_of(link, message.stream, put.status) : put;
  }

  /// The reason of a failure to store. A stream that is being deleted, a full stream and a full disk have the
  /// same code, so this reads the server's text, and asks whether the stream exists and is full.
  static Outcome reason_of(const NatsLink& link, const char* stream, natsStatus status) {
    const char* const text = nats_GetLastError(nullptr);  // JetStream's latest error, on this thread
    std::string said = text ? text : "";
    if (const auto place = said.find("): "); said.starts_with("(js.c") && place != said.npos)
      said.erase(0, place + 3);  // removes the place in libnats' source
    if (said.find("no space") != said.npos) return {status, JSInsufficientResourcesErr};
    if (said.find("no such file") != said.npos) return without(link, stream);
    jsStreamInfo* raw = nullptr;
    Outcome looked = info_of(link, stream, raw);
    const StreamInfo info(raw);
    if (!looked.ok()) return looked;
    const auto full = [](std::int64_t most, std::uint64_t held) {
      return most > 0 && held >= static_cast<std::uint64_t>(most);
    };
    const bool at_limit = said.find("maximum") != said.npos ||
                          full(info->Config->MaxMsgs, info->State.Msgs) ||
                          full(info->Config->MaxBytes, info->State.Bytes);
    if (at_limit) return {status, JSStreamStoreFailedErr};
    return {NATS_ERR, {}, said};  // the stream may have been recreated
  }

  static Outcome try_to_mend(const NatsLink& link, const char* stream, const std::string& queue,
                             std::uint64_t sequence) {
    Outcome outcome;
    jsConsumerInfo* raw = nullptr;
    outcome.status = js_GetConsumerInfo(&raw, link.stream(), stream, queue.c_str(), nullptr, &outcome.code);
    const ConsumerInfo info(raw);
    if (is_absent(outcome) || outcome.code == JSConsumerNotFoundErr)
      return {};  // workers will make the queue
    if (!outcome.ok() || info->AckFloor.Stream < sequence) return outcome;
    natsMsg* message = nullptr;
    outcome.status = js_GetMsg(&message, link.stream(), stream, sequence, nullptr, &outcome.code);
    natsMsg_Destroy(message);
    if (is_absent(outcome)) return {};
    if (outcome.ok())
      outcome.status = js_DeleteConsumer(link.stream(), stream, queue.c_str(), nullptr, &outcome.code);
    if (outcome.ok())
      outcome.status = js_AddConsumer(nullptr, link.stream(), stream, info->Config, nullptr, &outcome.code);
    return outcome;
  }

  Status verdict(const Result<Outcome>& outcome, const std::string& doing) const {
    if (!outcome) return outcome.error();
    if (outcome->ok()) return {};
    return nats_error(*outcome, doing, connection_->url());
  }

  const std::shared_ptr<NatsConnection> connection_;
  std::atomic<std::uint64_t> streams_lost_ = 0;
  Mutex mutex_;
  std::map<std::string, StreamSpec> declared_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<Bus>> connect(const BusOptions& options, const std::stop_token& stop) {
  auto connection = NatsConnection::open(options, stop);
  if (!connection) return connection.error();
  return std::make_shared<NatsBus>(std::move(*connection));
}

}  // namespace kernelsmith::fleet

namespace kernelsmith {

Status check_fleet_support() { return {}; }

}  // namespace kernelsmith
