#include "nats_connection.hpp"

#include <thread>
#include <utility>

namespace kernelsmith::fleet {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds kPause{50};
/// How long to wait for JetStream: a server that has just started accepts connections before its JetStream
/// answers.
constexpr milliseconds kJetStreamPatience{5'000};
/// The pause between tries to connect to a server that refuses us.
constexpr milliseconds kReopenPause{500};
/// How long a reachable server may be silent before the silence is reported.
constexpr milliseconds kSilence{5'000};

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<std::shared_ptr<NatsConnection>> NatsConnection::open(const BusOptions& wanted,
                                                             const std::stop_token& stop) {
  auto options = options_for(wanted);
  if (!options) return options.error();
  std::shared_ptr<NatsConnection> opened(new NatsConnection(wanted, std::move(*options)));
  const auto began = steady_clock::now();
  for (;;) {
    const Outcome outcome = opened->try_to_open();
    if (outcome.ok()) break;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped before the connection was made");
    const milliseconds patience = outcome.lacks_jetstream() ? kJetStreamPatience
                                  : outcome.is_passing()    ? wanted.first_patience
                                                            : milliseconds(0);
    if (steady_clock::now() - began >= patience)
      return nats_error(outcome, "the NATS server cannot be used", wanted.server.url);
    std::this_thread::sleep_for(kPause);
  }
  opened->keeper_.emplace(kReopenPause,
                          [connection = opened.get()](const std::stop_token&) { connection->keep_open(); });
  return opened;
}

Outcome NatsConnection::try_to_open() {
  Outcome outcome;
  auto opened = NatsLink::open(
      *settings_, [this](NatsLink::Event event) { happened(event); }, outcome);
  {
    const MutexLock lock(mutex_);
    refused_ = outcome;
    if (opened) std::swap(link_, opened);  // so that the old link ends without the lock
  }
  if (outcome.ok()) happened(NatsLink::Event::made);
  return outcome;
}

NatsConnection::~NatsConnection() {
  keeper_.reset();
  std::shared_ptr<NatsLink> last;
  const MutexLock lock(mutex_);
  std::swap(last, link_);
}

void NatsConnection::happened(NatsLink::Event event) {
  if (event == NatsLink::Event::made) {
    lost_at_ = 0;
    ++connections_;
    return;
  }
  std::int64_t connected = 0;
  lost_at_.compare_exchange_strong(connected, now_ms());
}

void NatsConnection::keep_open() {
  if (!link()->is_closed() || !try_to_open().ok()) return;
  const MutexLock lock(on_link_mutex_);
  for (OnLink* one : on_link_) one->begin_on(link());
}

std::shared_ptr<NatsLink> NatsConnection::link() const {
  const MutexLock lock(mutex_);
  return link_;
}

void NatsConnection::add(OnLink& one) {
  const MutexLock lock(on_link_mutex_);
  on_link_.insert(&one);
}

void NatsConnection::remove(OnLink& one) {
  const MutexLock lock(on_link_mutex_);
  on_link_.erase(&one);
}

milliseconds NatsConnection::away_for() const {
  const std::int64_t since = lost_at_.load();
  return milliseconds(since == 0 ? 0 : now_ms() - since + 1);
}

std::optional<Error> NatsConnection::refusal() const {
  const MutexLock lock(mutex_);
  if (refused_.ok() || refused_.is_passing()) return std::nullopt;
  return nats_error(refused_, "the latest attempt to connect", url_);
}

Error NatsConnection::away_error() const {
  const std::string away = "the NATS server has been away for too long";
  if (const auto why = refusal())
    return fail(ErrorCode::network, away + "; " + why->message, url_, why->hint);
  return fail(ErrorCode::network, away, url_,
              "start the server again; it keeps the jobs and results on its disk");
}

Error NatsConnection::no_answer(const Outcome& outcome) const {
  if (outcome.lacks_room()) return nats_error(outcome, "the server accepts no messages", url_);
  return fail(ErrorCode::network,
              "the NATS server is reachable but gives no answer: " +
                  (outcome.lacks_jetstream() ? "its JetStream is off"
                   : outcome.said.empty()    ? std::string(natsStatus_GetText(outcome.status))
                                             : outcome.said),
              url_, "its log says why; if this continues, start the server again");
}

Result<Outcome> NatsConnection::insist(const Attempt& attempt, const std::stop_token& stop) const {
  const auto began = steady_clock::now();
  for (bool told = false;;) {
    Outcome outcome{NATS_CONNECTION_DISCONNECTED, {}};
    if (away_for().count() == 0) outcome = attempt(*link());
    if (!outcome.may_pass()) return outcome;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped while the server was away");
    const bool away = away_for().count() > 0;
    const auto waited = steady_clock::now() - began;
    if (waited >= patience_) return away ? away_error() : no_answer(outcome);
    if (tell_ && !away && waited >= kSilence && !std::exchange(told, true))
      tell_(describe(no_answer(outcome)));
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace kernelsmith::fleet
