#include "nats_connection.hpp"

#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

namespace kernelsmith::fleet {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds kPause{50};
/// In milliseconds, as libnats has them.
constexpr std::int64_t kConnectWait = 2000, kRequestWait = 2000, kReconnectWait = 100, kPingInterval = 5000;

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string_view host_of(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, url.rfind(':'));
}

bool is_address(std::string_view host) {
  return host.starts_with('[') || host.find_first_not_of("0123456789.") == host.npos;
}

Status check_file(const std::filesystem::path& path, const char* what) {
  std::error_code error;
  if (path.empty() || std::filesystem::is_regular_file(path, error)) return {};
  return fail(ErrorCode::not_found, std::string("there is no such file of ") + what, path.string());
}

/// The settings of a connection; its callbacks come with open().
Result<NatsOptions> options_for(const BusOptions& wanted) {
  const FleetServer& server = wanted.server;
  if (const Status there = check_file(server.credentials, "credentials"); !there) return there.error();
  if (const Status there = check_file(server.ca, "certificates"); !there) return there.error();
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK) return fail(ErrorCode::internal, "libnats gives no options");
  NatsOptions options(made);
  natsStatus s = natsOptions_SetURL(made, server.url.c_str());
  const auto then = [&s](natsStatus next) { s = s == NATS_OK ? next : s; };
  then(natsOptions_SetName(made, wanted.name.c_str()));
  then(natsOptions_SetTimeout(made, kConnectWait));
  then(natsOptions_SetAllowReconnect(made, true));
  then(natsOptions_SetMaxReconnect(made, -1));
  then(natsOptions_SetReconnectWait(made, kReconnectWait));
  then(natsOptions_SetReconnectJitter(made, kReconnectWait, kReconnectWait));
  then(natsOptions_SetPingInterval(made, kPingInterval));
  then(natsOptions_SetSendAsap(made, true));
  then(natsOptions_SetFailRequestsOnDisconnect(made, true));
  if (server.password.empty() && !server.user.empty())
    then(natsOptions_SetToken(made, server.user.c_str()));
  else if (!server.user.empty())
    then(natsOptions_SetUserInfo(made, server.user.c_str(), server.password.c_str()));
  if (!server.credentials.empty())
    then(natsOptions_SetUserCredentialsFromFiles(made, server.credentials.c_str(), nullptr));
  if (s != NATS_OK) return nats_error({s, {}}, "the settings of the connection are not taken", server.url);
  if (server.url.starts_with("tls://") || !server.ca.empty()) {
    then(natsOptions_SetSecure(made, true));
    if (!server.ca.empty()) then(natsOptions_LoadCATrustedCertificates(made, server.ca.c_str()));
    const std::string host(host_of(server.url));
    if (!is_address(host)) then(natsOptions_SetExpectedHostname(made, host.c_str()));
    if (s != NATS_OK)
      return fail(ErrorCode::bad_input, "the certificates cannot be used", server.ca.string(),
                  "give a PEM file with the certificate that signed the server's");
  }
  return options;
}

}  // namespace

bool Outcome::is_passing() const {
  switch (status) {
    case NATS_IO_ERROR:
    case NATS_NO_SERVER:
    case NATS_STALE_CONNECTION:
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_CONNECTION_CLOSED:
    case NATS_TIMEOUT:
    case NATS_NO_RESPONDERS:
      return code != JSNotEnabledErr && code != JSNotEnabledForAccountErr;
    default:
      return code == JSClusterNotAvailErr || code == JSClusterNoPeersErr;
  }
}

Result<std::shared_ptr<NatsConnection>> NatsConnection::open(const BusOptions& wanted,
                                                             const std::stop_token& stop) {
  auto options = options_for(wanted);
  if (!options) return options.error();
  std::shared_ptr<NatsConnection> opened(new NatsConnection(wanted));
  natsOptions* raw = options->get();
  natsOptions_SetDisconnectedCB(
      raw, [](natsConnection*, void* self) { static_cast<NatsConnection*>(self)->lost(); }, opened.get());
  natsOptions_SetReconnectedCB(
      raw, [](natsConnection*, void* self) { static_cast<NatsConnection*>(self)->made(); }, opened.get());
  natsOptions_SetClosedCB(
      raw,
      [](natsConnection*, void* self) {
        auto& connection = *static_cast<NatsConnection*>(self);
        const std::lock_guard lock(connection.mutex_);
        connection.closed_ = true;
        connection.closed_changed_.notify_all();
      },
      opened.get());
  const auto deadline = steady_clock::now() + wanted.first_patience;
  for (;;) {
    const Outcome outcome = opened->try_to_open(*raw);
    if (outcome.ok()) return opened;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped before there was a connection");
    if (!outcome.is_passing() || steady_clock::now() >= deadline)
      return nats_error(outcome, "the NATS server cannot be used", wanted.server.url);
    std::this_thread::sleep_for(kPause);
  }
}

Outcome NatsConnection::try_to_open(natsOptions& options) {
  Outcome outcome{natsConnection_Connect(&connection_, &options), {}};
  if (!outcome.ok()) {
    connection_ = nullptr;
    return outcome;
  }
  made();
  jsOptions js;
  jsOptions_Init(&js);
  js.Wait = kRequestWait;
  outcome.status = natsConnection_JetStream(&stream_, connection_, &js);
  if (outcome.ok()) {
    jsAccountInfo* account = nullptr;
    outcome.status = js_GetAccountInfo(&account, stream_, nullptr, &outcome.code);
    jsAccountInfo_Destroy(account);
  }
  if (outcome.ok()) return outcome;
  // A server that has just begun answers, and has no JetStream for a moment.
  jsCtx_Destroy(std::exchange(stream_, nullptr));
  natsConnection_Destroy(std::exchange(connection_, nullptr));
  std::unique_lock lock(mutex_);
  closed_changed_.wait(lock, [this] { return closed_; });
  closed_ = false;
  return outcome;
}

NatsConnection::~NatsConnection() {
  jsCtx_Destroy(stream_);
  if (!connection_) return;
  natsConnection_Close(connection_);
  std::unique_lock lock(mutex_);
  closed_changed_.wait(lock, [this] { return closed_; });
  lock.unlock();
  natsConnection_Destroy(connection_);
}

void NatsConnection::lost() {
  std::int64_t connected = 0;
  lost_at_.compare_exchange_strong(connected, now_ms());
}

void NatsConnection::made() {
  lost_at_ = 0;
  ++connections_;
}

milliseconds NatsConnection::away_for() const {
  const std::int64_t since = lost_at_.load();
  return milliseconds(since == 0 ? 0 : now_ms() - since + 1);
}

Result<Outcome> NatsConnection::insist(const std::function<Outcome()>& attempt,
                                       const std::stop_token& stop) const {
  const auto deadline = steady_clock::now() + patience_;
  for (;;) {
    Outcome outcome{NATS_CONNECTION_DISCONNECTED, {}};
    if (away_for().count() == 0) outcome = attempt();
    if (!outcome.is_passing()) return outcome;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped while the server was away");
    if (steady_clock::now() >= deadline)
      return fail(ErrorCode::network, "the NATS server has been away for too long", url_,
                  "start it again; jobs and results that it has on its disk are kept");
    std::this_thread::sleep_for(kPause);
  }
}

Error nats_error(const Outcome& outcome, const std::string& doing, const std::string& url) {
  std::string message = doing + ": " + natsStatus_GetText(outcome.status);
  switch (outcome.code) {
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
      return fail(ErrorCode::unsupported, doing + ": JetStream is not enabled", url,
                  "start nats-server with -js, and with -sd FOLDER for what it keeps");
    case JSStreamStoreFailedErr:
    case JSMaximumStreamsLimitErr:
    case JSMaximumConsumersLimitErr:
    case JSStreamMessageExceedsMaximumErr:
      return fail(ErrorCode::server_failed, doing + ": a stream of the fleet is at its limit", url,
                  "let workers empty it: kernelsmith worker --nats " + url);
    case JSStorageResourcesExceededErr:
    case JSInsufficientResourcesErr:
      return fail(ErrorCode::disk_full, doing + ": the server has no room for it", url,
                  "raise max_file_store of its JetStream, or make room on its disk");
    default:
      break;
  }
  if (outcome.code != 0) message += " (JetStream error " + std::to_string(outcome.code) + ")";
  switch (outcome.status) {
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
      return fail(ErrorCode::permission, doing + ": the server does not accept these credentials", url,
                  "check the user and password in the URL, or the file of credentials");
    case NATS_SSL_ERROR:
      return fail(ErrorCode::untrusted, doing + ": the server's certificate is not accepted", url,
                  "name the certificate that signed it as the CA file");
    case NATS_SECURE_CONNECTION_REQUIRED:
      return fail(ErrorCode::untrusted, doing + ": the server wants TLS", url,
                  "write tls:// in place of nats://");
    case NATS_SECURE_CONNECTION_WANTED:
      return fail(ErrorCode::untrusted, doing + ": the server has no TLS", url,
                  "write nats:// in place of tls:// if the network in between is yours");
    case NATS_NO_RESPONDERS:
      return fail(ErrorCode::unsupported, doing + ": JetStream does not answer", url,
                  "start nats-server with -js, and with -sd FOLDER for what it keeps");
    case NATS_MAX_PAYLOAD:
      return fail(ErrorCode::too_long, doing + ": it is larger than a message of the server may be", url,
                  "raise max_payload in the configuration of the NATS server");
    default:
      return fail(ErrorCode::network, std::move(message), url,
                  "is a server there? nats-server -js -sd FOLDER starts one");
  }
}

}  // namespace kernelsmith::fleet
