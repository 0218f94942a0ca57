// `evaluator: {fleet: ...}` of run.yaml: any backend's jobs, sent to workers on other machines.
#include <utility>

#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/fleet/fleet_evaluator.hpp>

#include "fleet_url.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kOff = "none";
/// The settings of the section `fleet`.
class FleetSettings {
 public:
  bool on() const { return !nats_.empty(); }

  /// Checks that a server is named. --set gives the settings one by one in any order, so this check comes
  /// last.
  Status check() const {
    if (!lacks_server_) return {};
    return fail(ErrorCode::invalid_argument, "settings of a fleet are given, but no server is named",
                "evaluator.fleet.nats", "--set evaluator.fleet.nats=nats://HOST:4222");
  }

  void list(Section& io) {
    std::string nats = nats_;
    if (io("nats", nats,
           "`nats://HOST:4222` or `tls://HOST:4222`, with `USER:PASSWORD@` or `TOKEN@` before the host if "
           "the "
           "server asks for it; `${NAME}` is an environment variable, `file:PATH` a file that holds the URL. "
           "`none` turns the fleet off"))
      take_url(io, std::move(nats));
    io.unless_empty(
        "hardware", options_.hardware,
        "which machines evaluate: a part of the hardware's name in reports (`show`), in upper or lower case. "
        "No effect on `command` and `python` tasks: any worker evaluates them");
    io.unless_empty("credentials", options_.server.credentials, "a NATS credentials file (.creds)");
    io.unless_empty("ca", options_.server.ca, "a PEM file with the certificates that may sign the server's");
    io("patience_s", options_.patience, {0.1, kDayS},
       "how long the server may be away before evaluations end with an Error (`network`). The first "
       "connection of a run, and of `evaluate`, is given up after 10 s in any case");
    io("wait_for_worker_s", options_.wait_for_worker, {0.1, kDayS},
       "how long there may be no worker for the run (`timeout`)");
    lacks_server_ = !on() && !is_off_;
  }

  void tell_of_server(const TellOfWaiting& tell) { options_.tell = tell; }

  /// `is_stored` says that the server comes only from a run folder.
  Result<FleetOptions> options(bool is_stored) const {
    if (is_stored && shows_secret())
      return fail(ErrorCode::invalid_argument,
                  "this run names a NATS server, which would be shown your credentials: " + nats_,
                  "evaluator.fleet.nats",
                  "if it is yours, say so: --set evaluator.fleet.nats='" + nats_ + "'");
    auto server = literal_.empty() ? read_fleet_url(nats_) : parse_fleet_server(literal_.reveal());
    if (!server) return server.error();
    FleetOptions options = options_;
    options.server.url = server->url;
    options.server.user = server->user;
    options.server.password = server->password;
    return options;
  }

  std::vector<std::string> settings_to_reconfirm() const {
    if (!literal_.empty()) {
      std::string url = nats_;
      return {"fleet.nats=" + url.insert(url.find("://") + 3, "USER:PASSWORD@")};
    }
    if (!shows_secret()) return {};
    return {"fleet.nats=" + nats_};
  }

 private:
  /// A variable anywhere in the URL counts as a secret, because looking up a host name reveals it to others.
  bool shows_secret() const {
    return !literal_.empty() || is_kept_elsewhere(nats_) || !options_.server.credentials.empty();
  }

  /// A password in the URL itself is used but not stored in run.yaml.
  void take_url(Section& io, std::string text) {
    literal_ = Secret();
    nats_.clear();
    is_off_ = text == kOff;
    if (is_off_) return;
    if (is_kept_elsewhere(text)) {
      nats_ = std::move(text);  // parsed when it is used
      return;
    }
    const auto server = parse_fleet_server(text);
    if (!server) return io.refuse("nats", server.error().message, server.error().hint);
    nats_ = server->url;
    if (server->has_secret()) literal_ = Secret(std::move(text));
  }

  std::string nats_;  ///< the URL as in run.yaml; empty if this machine evaluates
  Secret literal_;    ///< the URL with the password that it contains; empty if it contains none
  FleetOptions options_;
  bool is_off_ = false;
  bool lacks_server_ = false;  ///< the section has settings, but no server
};

class FleetProvider final : public EvaluatorProvider {
 public:
  explicit FleetProvider(std::unique_ptr<EvaluatorProvider> local) : local_(std::move(local)) {}

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status whole = fleet_.check(); !whole) return whole.error();
    if (!fleet_.on()) return local_->make(task, stop);
    const auto options = fleet_.options(is_only_stored("fleet.nats"));
    if (!options) return options.error();
    return make_fleet_evaluator(task, *options);
  }

  void tell_of_waiting(const TellOfWaiting& tell) override {
    fleet_.tell_of_server(tell);
    local_->tell_of_waiting(tell);
  }

  Result<std::string> describe_plan(const Task& task, const Source& source) const override {
    return local_->describe_plan(task, source);
  }
  Result<GpuProfile> profile(const Task& task, const Source& source,
                             const std::stop_token& stop) const override {
    return local_->profile(task, source, stop);
  }

  Result<PlainVerdict> verify(const Task& task, const Source& source,
                              const std::stop_token& stop) const override {
    return local_->verify(task, source, stop);
  }

  bool is_local() const override { return !fleet_.on(); }
  void require_measuring() override { local_->require_measuring(); }

  void mark_untrusted() override {
    Provider::mark_untrusted();
    local_->mark_untrusted();
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    return fleet_.on() ? fleet_.settings_to_reconfirm() : local_->settings_to_reconfirm();
  }

 private:
  void list(Section& io) override {
    if (fleet_.on() || !io.writes()) io.map("fleet", [&](Section& fleet) { fleet_.list(fleet); });
    if (!io.ok()) return;
    if (!fleet_.on()) return local_->settings(io);
    // Settings of the backend would have no effect here, because the evaluating machine uses its own.
    for (const std::string& key : io.reader() ? io.reader()->keys() : std::vector<std::string>()) {
      if (key == "fleet" || key == "kind") continue;
      io.given(key);
      return io.refuse(key, "settings of the backend are the workers' own if a fleet evaluates",
                       "kernelsmith worker --set evaluator." + key + "=VALUE");
    }
  }

  std::unique_ptr<EvaluatorProvider> local_;
  FleetSettings fleet_;
};

}  // namespace

std::unique_ptr<EvaluatorProvider> with_fleet(std::unique_ptr<EvaluatorProvider> local) {
  return std::make_unique<FleetProvider>(std::move(local));
}

}  // namespace kernelsmith
