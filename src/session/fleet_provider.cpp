// `evaluator: {fleet: ...}` of run.yaml: any backend's jobs, sent to workers on other machines.
#include <chrono>
#include <utility>

#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/fleet/fleet_evaluator.hpp>

#include "fleet_url.hpp"
#include "providers.hpp"
#include "seconds.hpp"

namespace kernelsmith {
namespace {

using std::chrono::milliseconds;

constexpr const char* kOff = "none";
/// The settings of the section `fleet`.
class FleetSettings {
 public:
  bool on() const { return !nats_.empty(); }

  /// Settings come in any order, one by one (--set): only at the end it is known that the server is missing.
  Status check() const {
    if (!lacks_server_) return {};
    return fail(ErrorCode::invalid_argument, "settings of a fleet are given, and no server is named",
                "evaluator.fleet.nats", "--set evaluator.fleet.nats=nats://HOST:4222");
  }

  void read(YamlMap& in) {
    std::string credentials = options_.server.credentials.string(), ca = options_.server.ca.string();
    if (in.kind("nats") != YamlKind::absent) read_url(in);
    in.optional("hardware", options_.hardware);
    in.optional("credentials", credentials);
    in.optional("ca", ca);
    read_seconds(in, "patience_s", 0.1, options_.patience);
    read_seconds(in, "wait_for_worker_s", 0.1, options_.wait_for_worker);
    options_.server.credentials = credentials;
    options_.server.ca = ca;
    lacks_server_ = !on() && !is_off_;
  }

  void tell_of_server(const TellOfWaiting& tell) { options_.tell = tell; }

  void write(YamlWriter& out) const {
    out.put("nats", nats_);
    if (!options_.hardware.empty()) out.put("hardware", options_.hardware);
    if (!options_.server.credentials.empty()) out.put("credentials", options_.server.credentials.string());
    if (!options_.server.ca.empty()) out.put("ca", options_.server.ca.string());
    out.put("patience_s", std::chrono::duration<double>(options_.patience).count());
    out.put("wait_for_worker_s", std::chrono::duration<double>(options_.wait_for_worker).count());
  }

  Result<FleetOptions> options() const {
    if (stored_ && shows_secret())
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

  void mark_untrusted() { stored_ = true; }

  std::vector<std::string> settings_to_reconfirm() const {
    if (!literal_.empty()) {
      std::string url = nats_;
      return {"fleet.nats=" + url.insert(url.find("://") + 3, "USER:PASSWORD@")};
    }
    if (!shows_secret()) return {};
    return {"fleet.nats=" + nats_};
  }

 private:
  /// A variable is one wherever it stands in the URL: the name of a host is looked up by others.
  bool shows_secret() const {
    return !literal_.empty() || is_kept_elsewhere(nats_) || !options_.server.credentials.empty();
  }

  /// A password that stands in the URL itself is used, and not kept in run.yaml.
  void read_url(YamlMap& in) {
    std::string text;
    in.required("nats", text);
    if (!in.ok()) return;
    stored_ = false;
    literal_ = Secret();
    nats_.clear();
    is_off_ = text == kOff;
    if (is_off_) return;
    if (is_kept_elsewhere(text)) {
      nats_ = std::move(text);  // parsed when it is used
      return;
    }
    const auto server = parse_fleet_server(text);
    if (!server) return in.refuse("nats", server.error().message, server.error().hint);
    nats_ = server->url;
    if (server->has_secret()) literal_ = Secret(std::move(text));
  }

  std::string nats_;  ///< as run.yaml has it; empty: evaluated on this machine
  Secret literal_;    ///< the same with its password, if that is no variable
  FleetOptions options_;
  bool is_off_ = false;
  bool lacks_server_ = false;  ///< there are settings of a fleet, and no server
  bool stored_ = false;        ///< only a run folder names the server: see mark_untrusted()
};

class FleetProvider final : public EvaluatorProvider {
 public:
  explicit FleetProvider(std::unique_ptr<EvaluatorProvider> local) : local_(std::move(local)) {}

  void read(YamlMap& in) override {
    in.optional_map("fleet", [&](YamlMap& fleet) { fleet_.read(fleet); });
    if (!in.ok()) return;
    if (!fleet_.on()) return local_->read(in);
    // They would say nothing: another machine evaluates, by its own.
    for (const std::string& key : in.keys()) {
      if (key == "fleet" || key == "kind") continue;
      in.kind(key);
      return in.refuse(key, "settings of the backend are the workers' own if a fleet evaluates",
                       "kernelsmith worker --set evaluator." + key + "=VALUE");
    }
  }

  void write(YamlWriter& out) const override {
    if (!fleet_.on()) return local_->write(out);
    out.map("fleet", [&](YamlWriter& map) { fleet_.write(map); });
  }

  Result<std::shared_ptr<Evaluator>> make(const Task& task, const std::stop_token& stop) const override {
    if (const Status whole = fleet_.check(); !whole) return whole.error();
    if (!fleet_.on()) return local_->make(task, stop);
    const auto options = fleet_.options();
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

  void mark_untrusted() override {
    fleet_.mark_untrusted();
    local_->mark_untrusted();
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    return fleet_.on() ? fleet_.settings_to_reconfirm() : local_->settings_to_reconfirm();
  }

 private:
  std::unique_ptr<EvaluatorProvider> local_;
  FleetSettings fleet_;
};

}  // namespace

std::unique_ptr<EvaluatorProvider> with_fleet(std::unique_ptr<EvaluatorProvider> local) {
  return std::make_unique<FleetProvider>(std::move(local));
}

}  // namespace kernelsmith
