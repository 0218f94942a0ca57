// The proposer `mix` of run.yaml: several proposers as arms of one run. Each serves the models that it names.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "providers.hpp"
#include "sections.hpp"

namespace kernelsmith {
namespace {

/// One value for each arm, found by the name of any of the arm's models. The first arm serves requests that
/// name no model.
template <class T>
class ByModel {
 public:
  void add(const std::vector<std::string>& models, T value) {
    for (const std::string& model : models) places_.emplace(model, values_.size());
    values_.push_back(std::move(value));
  }

  /// Returns null for a model that no arm has.
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

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token& stop) const override {
    ByModel<std::shared_ptr<Proposer>> made;
    for (const Arm& arm : arms_) {
      auto one = provider_of(arm).make(task, stop);
      if (!one) return one;
      made.add(provider_of(arm).traits().models, std::move(*one));
    }
    return std::shared_ptr<Proposer>(std::make_shared<Mix>(std::move(made)));
  }

  Result<CallPlanner> planner(const Task& task) const override {
    ByModel<CallPlanner> planners;
    for (const Arm& arm : arms_) {
      auto one = provider_of(arm).planner(task);
      if (!one) return one;
      planners.add(provider_of(arm).traits().models, std::move(*one));
    }
    return CallPlanner(
        [planners = std::move(planners)](const ProposalRequest& request) -> std::optional<PlannedCall> {
          const CallPlanner* own = planners.of(request.model);
          return own && *own ? (*own)(request) : std::nullopt;
        });
  }

  ProposerExam examine(const Task& task, const std::stop_token& stop) const override {
    ProposerExam all;
    all.prompts = outlook().prompts({}).value_or(PromptOptions{});
    for (const Arm& arm : arms_) {
      ProposerExam one = provider_of(arm).examine(task, stop);
      for (DryCheck& check : one.checks) check.name += " (" + arm.name + ")";
      std::ranges::move(one.checks, std::back_inserter(all.checks));
      std::ranges::move(one.calls, std::back_inserter(all.calls));
    }
    return all;
  }

  /// All operators of all models. Each arm keeps its own limit in flight.
  ProposerTraits traits() const override {
    ProposerTraits all{.operators = {}, .in_flight = 0};
    for (const Arm& arm : arms_) {
      const ProposerTraits one = arm.chosen.provider->traits();
      for (const std::string& model : one.models) {
        all.models.push_back(model);
        for (const OperatorChoice& choice : one.operators) all.operators.push_back({choice.op, model});
      }
      all.in_flight =
          all.in_flight && one.in_flight ? std::optional(*all.in_flight + *one.in_flight) : std::nullopt;
    }
    return all;
  }

  ProposerOutlook outlook() const override {
    ProposerOutlook all;
    for (const Arm& arm : arms_) {
      ProposerOutlook one = provider_of(arm).outlook();
      std::ranges::move(one.models, std::back_inserter(all.models));
      if (!one.destination.empty())
        all.destination += (all.destination.empty() ? "" : "\n") + arm.name + ": " + one.destination;
    }
    return all;
  }

  void mark_untrusted() override {
    for (const Arm& arm : arms_) arm.chosen.provider->mark_untrusted();
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> all;
    for (const Arm& arm : arms_)
      for (const std::string& setting : arm.chosen.provider->settings_to_reconfirm())
        all.push_back("arms." + arm.name + "." + setting);
    return all;
  }

 private:
  struct Arm {
    std::string name;
    Chosen<ProposerProvider> chosen;
  };

  /// The arm's provider, with the context of the mix.
  const ProposerProvider& provider_of(const Arm& arm) const {
    arm.chosen.provider->context = context;
    arm.chosen.provider->context.place += ".arms." + arm.name;
    return *arm.chosen.provider;
  }

  void list(Section& io) override {
    if (io.tells())
      return io.other("arms", "a mapping", "needed", "a name of yours for each arm, to its `kind` and keys",
                      {}, {});
    if (arms_.empty()) io.require("arms");
    io.map("arms", [this](Section& arms) {
      for (const std::string& name : arms.reader() ? arms.reader()->keys() : names())
        arms.map(name, [&](Section& arm) { list_choice(arm, kinds_, arm_called(name).chosen, ""); });
      if (arms.reader() && arms.ok()) check_models(*arms.reader());
    });
    if (arms_.size() < 2)
      io.refuse("arms", "a mix needs two arms or more", "one alone is the proposer itself: its own kind");
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Arm& arm : arms_) names.push_back(arm.name);
    return names;
  }

  Arm& arm_called(const std::string& name) {
    const auto found = std::ranges::find(arms_, name, &Arm::name);
    return found == arms_.end() ? arms_.emplace_back(Arm{name, {}}) : *found;
  }

  /// Checks the names of arms, which --set uses, and those of models, by which requests find their arm.
  void check_models(YamlMap& map) const {
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    std::map<std::string, std::string> arm_of;
    for (const Arm& arm : arms_) {
      if (arm.name.find_first_not_of(kPlain) != std::string::npos)
        map.refuse(arm.name, "an arm is named with letters, digits, _ and -");
      const auto models = provider_of(arm).traits().models;
      if (models.empty())
        map.refuse(arm.name, "this arm names no model, so nothing would be asked of it",
                   "models: [{name: NAME}]");
      for (const std::string& model : models)
        if (const auto [other, is_new] = arm_of.emplace(model, arm.name); !is_new)
          map.refuse(arm.name,
                     "the name \"" + model + "\" is taken" +
                         (other->second == arm.name ? "" : " by the arm " + other->second) +
                         ": models and agents are chosen by their names",
                     "leave one out, or give an agent another name with `name`");
    }
  }

  const Kinds<ProposerProvider> kinds_;
  std::vector<Arm> arms_;
};

}  // namespace

std::unique_ptr<ProposerProvider> mix_provider(Kinds<ProposerProvider> kinds) {
  return std::make_unique<MixProvider>(std::move(kinds));
}

}  // namespace kernelsmith
