// The proposer `mix` of run.yaml: several proposers as arms of one run. Each serves the models that it names.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <kernelsmith/config/nearest_name.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

/// A value for each arm, found by a model of the arm's. The first one serves requests that name no model.
template <class T>
class ByModel {
 public:
  void add(const std::vector<std::string>& models, T value) {
    for (const std::string& model : models) places_.emplace(model, values_.size());
    values_.push_back(std::move(value));
  }

  /// Null for a model that no arm has.
  const T* of(const std::string& model) const {
    if (model.empty()) return &values_.front();
    const auto found = places_.find(model);
    return found == places_.end() ? nullptr : &values_[found->second];
  }

 private:
  std::vector<T> values_;
  std::map<std::string, std::size_t> places_;
};

class Mix final : public Proposer {
 public:
  explicit Mix(ByModel<std::shared_ptr<Proposer>> arms) : arms_(std::move(arms)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const auto* arm = arms_.of(request.model);
    if (!arm)
      return done(fail(ErrorCode::invalid_argument, "no arm has the model \"" + request.model + "\"",
                       "proposer.arms"));
    (*arm)->start(std::move(request), std::move(stop), std::move(done));
  }

 private:
  ByModel<std::shared_ptr<Proposer>> arms_;
};

class MixProvider final : public ProposerProvider {
 public:
  explicit MixProvider(Kinds<ProposerProvider> kinds) : kinds_(std::move(kinds)) {}

  void read(YamlMap& in) override {
    if (!arms_.empty() && in.kind("arms") == YamlKind::absent) return;
    in.required_map("arms", [&](YamlMap& map) {
      for (const std::string& name : map.keys())
        map.required_map(name, [&](YamlMap& arm) { read_arm(name, arm); });
      if (map.ok()) check_models(map);
    });
    if (in.ok() && arms_.size() < 2)
      in.refuse("arms", "a mix needs two arms or more", "one alone is the proposer itself: its own kind");
  }

  void write(YamlWriter& out) const override {
    out.map("arms", [&](YamlWriter& map) {
      for (const Arm& arm : arms_)
        map.map(arm.name, [&](YamlWriter& one) {
          one.put("kind", arm.kind);
          arm.provider->write(one);
        });
    });
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token& stop) const override {
    ByModel<std::shared_ptr<Proposer>> made;
    for (const Arm& arm : arms_) {
      auto one = arm.provider->make(task, stop);
      if (!one) return one;
      made.add(arm.provider->models(), std::move(*one));
    }
    return std::shared_ptr<Proposer>(std::make_shared<Mix>(std::move(made)));
  }

  Result<CallPlanner> planner(const Task& task) const override {
    ByModel<CallPlanner> planners;
    for (const Arm& arm : arms_) {
      auto one = arm.provider->planner(task);
      if (!one) return one;
      planners.add(arm.provider->models(), std::move(*one));
    }
    return CallPlanner(
        [planners = std::move(planners)](const ProposalRequest& request) -> std::optional<PlannedCall> {
          const CallPlanner* own = planners.of(request.model);
          return own && *own ? (*own)(request) : std::nullopt;
        });
  }

  ProposerExam examine(const Task& task, const std::stop_token& stop) const override {
    ProposerExam all;
    all.prompts = prompts({}).value_or(PromptOptions{});
    for (const Arm& arm : arms_) {
      ProposerExam one = arm.provider->examine(task, stop);
      for (DryCheck& check : one.checks) check.name += " (" + arm.name + ")";
      std::ranges::move(one.checks, std::back_inserter(all.checks));
      std::ranges::move(one.calls, std::back_inserter(all.calls));
    }
    return all;
  }

  /// One that costs nothing may stand beside one that does.
  Status check_prices() const override {
    const bool all_free = is_free();
    for (const Arm& arm : arms_) {
      if (!all_free && arm.provider->is_free()) continue;
      if (Status priced = arm.provider->check_prices(); !priced) return priced;
    }
    return {};
  }

  bool is_free() const override {
    return std::ranges::all_of(arms_, [](const Arm& arm) { return arm.provider->is_free(); });
  }

  std::vector<std::string> models() const override {
    std::vector<std::string> all;
    for (const Arm& arm : arms_) std::ranges::move(arm.provider->models(), std::back_inserter(all));
    return all;
  }

  /// Every operator of every model.
  std::vector<OperatorChoice> operators() const override {
    std::vector<OperatorChoice> all;
    for (const Arm& arm : arms_)
      for (const std::string& model : arm.provider->models())
        for (const OperatorChoice& choice : arm.provider->operators()) all.push_back({choice.op, model});
    return all;
  }

  std::optional<PromptOptions> prompts(const std::string& model) const override {
    for (const Arm& arm : arms_)
      if (model.empty() || has(arm, model))
        if (auto own = arm.provider->prompts(model)) return own;
    return std::nullopt;
  }

  bool may_be_given_up(const std::string& model) const override {
    const auto own =
        std::ranges::find_if(arms_, [&](const Arm& arm) { return model.empty() || has(arm, model); });
    return own != arms_.end() && own->provider->may_be_given_up(model);
  }

  std::string destination() const override {
    std::string text;
    for (const Arm& arm : arms_)
      if (const std::string one = arm.provider->destination(); !one.empty())
        text += (text.empty() ? "" : "\n") + arm.name + ": " + one;
    return text;
  }

  void mark_untrusted() override {
    for (const Arm& arm : arms_) arm.provider->mark_untrusted();
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> all;
    for (const Arm& arm : arms_) {
      if (const std::string server = arm.provider->server_to_reconfirm(); !server.empty())
        all.push_back("arms." + arm.name + ".base_url=" + server);
      for (const std::string& setting : arm.provider->settings_to_reconfirm())
        all.push_back("arms." + arm.name + "." + setting);
    }
    return all;
  }

  void describe_backend(const BackendDescription& backend) override {
    backend_ = backend;
    for (const Arm& arm : arms_) arm.provider->describe_backend(backend);
  }

  void show_notes(const std::vector<PromptNote>& notes) override {
    for (const Arm& arm : arms_) arm.provider->show_notes(notes);
  }

  void observe(const std::shared_ptr<Observer>& observer) override {
    for (const Arm& arm : arms_) arm.provider->observe(observer);
  }

  /// Each arm keeps to its own number.
  std::optional<unsigned> proposals_in_flight() const override {
    unsigned sum = 0;
    for (const Arm& arm : arms_) {
      const auto own = arm.provider->proposals_in_flight();
      if (!own) return std::nullopt;
      sum += *own;
    }
    return sum;
  }

 private:
  struct Arm {
    std::string name, kind;
    std::shared_ptr<ProposerProvider> provider;
  };

  static bool has(const Arm& arm, const std::string& model) {
    const auto models = arm.provider->models();
    return std::ranges::find(models, model) != models.end();
  }

  void read_arm(const std::string& name, YamlMap& in) {
    auto arm = std::ranges::find(arms_, name, &Arm::name);
    const bool is_new = arm == arms_.end();
    std::string kind = is_new ? "" : arm->kind;
    if (is_new)
      in.required("kind", kind);
    else
      in.optional("kind", kind);
    if (!in.ok()) return;
    if (is_new || kind != arm->kind) {
      auto provider = provider_of(kind, in);
      if (!provider) return;
      provider->set_place("proposer.arms." + name);
      provider->describe_backend(backend_);
      if (is_new) arm = arms_.insert(arm, Arm{});
      *arm = {name, kind, std::move(provider)};
    }
    arm->provider->read(in);
  }

  /// Null if it was refused.
  std::shared_ptr<ProposerProvider> provider_of(const std::string& kind, YamlMap& in) const {
    const auto found = kinds_.find(kind);
    if (found != kinds_.end()) return found->second();
    std::vector<std::string_view> names;
    for (const auto& [name, make] : kinds_) names.push_back(name);
    in.refuse("kind", "\"" + kind + "\" cannot be an arm of a mix", name_hint(kind, names));
    return nullptr;
  }

  /// Requests find their arm, and --set a key of it.
  void check_models(YamlMap& map) const {
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    std::map<std::string, std::string> arm_of;
    for (const Arm& arm : arms_) {
      if (arm.name.find_first_not_of(kPlain) != std::string::npos)
        map.refuse(arm.name, "an arm is named with letters, digits, _ and -");
      const auto models = arm.provider->models();
      if (models.empty())
        map.refuse(arm.name, "this arm names no model, so nothing would be asked of it",
                   "models: [{name: NAME}]");
      for (const std::string& model : models)
        if (const auto [other, is_new] = arm_of.emplace(model, arm.name); !is_new)
          map.refuse(arm.name,
                     "the name \"" + model + "\" is taken" +
                         (other->second == arm.name ? "" : " by the arm " + other->second) +
                         ": models and agents are chosen by their names",
                     "leave one out, or give an agent another one with `name`");
    }
  }

  const Kinds<ProposerProvider> kinds_;
  std::vector<Arm> arms_;
  BackendDescription backend_;
};

}  // namespace

std::unique_ptr<ProposerProvider> mix_provider(Kinds<ProposerProvider> kinds) {
  return std::make_unique<MixProvider>(std::move(kinds));
}

}  // namespace kernelsmith
