#include "nats_link.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace kernelsmith::fleet {
namespace {

/// Times in milliseconds, as libnats expects them.
constexpr std::int64_t kConnectWait = 2000, kRequestWait = 2000, kReconnectWait = 100, kPingInterval = 5000;

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
  return fail(ErrorCode::not_found, std::string("there is no file of ") + what, path.string());
}

}  // namespace

Result<NatsOptions> options_for(const BusOptions& wanted) {
  const FleetServer& server = wanted.server;
  if (const Status there = check_file(server.credentials, "credentials"); !there) return there.error();
  if (const Status there = check_file(server.ca, "certificates"); !there) return there.error();
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK)
    return fail(ErrorCode::internal, "libnats cannot make its options");
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
  const std::string user(server.user.reveal()), password(server.password.reveal());
  if (password.empty() && !user.empty())
    then(natsOptions_SetToken(made, user.c_str()));
  else if (!user.empty())
    then(natsOptions_SetUserInfo(made, user.c_str(), password.c_str()));
  if (!server.credentials.empty())
    then(natsOptions_SetUserCredentialsFromFiles(made, server.credentials.c_str(), nullptr));
  if (s != NATS_OK) return nats_error({s, {}}, "libnats refuses the settings of the connection", server.url);
  if (server.url.starts_with("tls://") || !server.ca.empty()) {
    then(natsOptions_SetSecure(made, true));
    if (!server.ca.empty()) then(natsOptions_LoadCATrustedCertificates(made, server.ca.c_str()));
    const std::string host(host_of(server.url));
    if (!is_address(host)) then(natsOptions_SetExpectedHostname(made, host.c_str()));
    if (s != NATS_OK)
      return fail(ErrorCode::bad_input, "the certificates cannot be used", server.ca.string(),
                  "give a PEM file with the certificate that signed the server's certificate");
  }
  return options;
}

std::shared_ptr<NatsLink> NatsLink::open(natsOptions& options, Happened happened, Outcome& outcome) {
  std::shared_ptr<NatsLink> link(new NatsLink(std::move(happened)));
  outcome = link->connect(options);
  if (!outcome.ok()) link.reset();
  return link;
}

Outcome NatsLink::connect(natsOptions& options) {
  natsOptions_SetDisconnectedCB(&options, on_event<Event::lost>, this);
  natsOptions_SetReconnectedCB(&options, on_event<Event::made>, this);
  natsOptions_SetClosedCB(&options, on_event<Event::closed>, this);
  Outcome outcome{natsConnection_Connect(&connection_, &options), {}};
  if (!outcome.ok()) {
    connection_ = nullptr;
    return outcome;
  }
  measure();
  jsOptions js;
  jsOptions_Init(&js);
  js.Wait = kRequestWait;
  outcome.status = natsConnection_JetStream(&stream_, connection_, &js);
  if (!outcome.ok()) return outcome;
  jsAccountInfo* account = nullptr;
  outcome.status = js_GetAccountInfo(&account, stream_, nullptr, &outcome.code);
  jsAccountInfo_Destroy(account);
  return outcome;
}

NatsLink::~NatsLink() {
  jsCtx_Destroy(stream_);
  if (!connection_) return;
  natsConnection_Close(connection_);
  MutexLock lock(mutex_);
  closed_changed_.wait(lock, [this]() KERNELSMITH_REQUIRES(mutex_) { return closed_; });
  lock.unlock();
  natsConnection_Destroy(connection_);
}

template <NatsLink::Event event>
void NatsLink::on_event(natsConnection*, void* self) {
  auto& link = *static_cast<NatsLink*>(self);
  if (event == Event::made) link.measure();
  link.happened_(event);
  if (event != Event::closed) return;
  const MutexLock lock(link.mutex_);
  link.closed_ = true;
  link.closed_changed_.notify_all();
}

/// Reads the largest size of a message. A closed connection reports none.
void NatsLink::measure() {
  if (const std::int64_t most = natsConnection_GetMaxPayload(connection_); most > 0) most_bytes_ = most;
}

bool NatsLink::is_closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

void NatsLink::close() const { natsConnection_Close(connection_); }

}  // namespace kernelsmith::fleet
