// The section `operators` of run.yaml.
#include <algorithm>

#include <kernelsmith/core/nearest_name.hpp>

#include "sections.hpp"

namespace kernelsmith {
namespace {

using Entries = std::vector<WeightedOperators::Entry>;

const Choices<Operator> kOperators =
    choices({Operator::edit, Operator::rewrite, Operator::crossover, Operator::tune});
const Choices<OperatorPolicy> kPolicies = choices({OperatorPolicy::weights, OperatorPolicy::bandit});
const Choices<ArmCost> kArmCosts = choices({ArmCost::tries, ArmCost::usd, ArmCost::tokens});

/// The error if the proposer has no model of that name.
std::optional<Error> unknown_model(const std::vector<std::string>& models, const std::string& name) {
  if (name.empty() || models.empty() || std::ranges::find(models, name) != models.end()) return std::nullopt;
  const std::vector<std::string_view> names(models.begin(), models.end());
  return fail(ErrorCode::invalid_argument, "no model \"" + name + "\" is configured (proposer.models)",
              "operators", name_hint(name, names));
}

void list_arms(Section& io, std::string_view key, const std::vector<std::string>& models, Entries& entries) {
  io.maps(key, entries, "the proposer's", "what makes the children",
          [&](Section& arm, WeightedOperators::Entry& entry) {
            arm.require("operator");
            arm("operator", entry.choice.op, kOperators, "what it does with the parent");
            arm.by_default("needed");
            arm.unless_empty("model", entry.choice.model, "one of the proposer's");
            arm.by_default("the first");
            arm("weight", entry.weight, {0.0, 1e9}, "its share of the sum of all; with a bandit 0 or 1");
            if (const auto unknown = unknown_model(models, entry.choice.model); unknown && arm.ok())
              arm.refuse("model", unknown->message, unknown->hint);
          });
}

/// A bandit over the operators whose weight is 1.
Result<std::shared_ptr<const Operators>> bandit_of(const RunConfig& config) {
  std::vector<OperatorChoice> arms;
  for (const auto& [arm, weight] : config.operators) {
    if (weight != 0 && weight != 1)
      return fail(ErrorCode::invalid_argument,
                  "the bandit finds out by itself how often an arm is worth asking, so a weight is 0 or 1",
                  "operators", "leave `weight` out; 0 leaves the arm out");
    if (weight == 1) arms.push_back(arm);
  }
  auto bandit = BanditOperators::create(std::move(arms), config.arm_cost);
  if (!bandit) return bandit.error();
  return std::make_shared<const BanditOperators>(std::move(*bandit));
}

}  // namespace

std::string_view name_of(OperatorPolicy policy) {
  return policy == OperatorPolicy::bandit ? "bandit" : "weights";
}

Result<std::shared_ptr<const Operators>> operators_of(const RunConfig& config) {
  if (config.choose_operators == OperatorPolicy::bandit) return bandit_of(config);
  if (config.arm_cost)
    return fail(ErrorCode::invalid_argument, "weights ignore costs: only the bandit uses `cost`", "operators",
                "leave `cost` out, or set choose: bandit");
  auto weighted = WeightedOperators::create(config.operators);
  if (!weighted) return weighted.error();
  return std::make_shared<const WeightedOperators>(std::move(*weighted));
}

void list_operators(Section& io, RunConfig& config) {
  if (io.reader() && (!io.given("operators") || !io.ok())) return;
  const auto models = config.proposer.provider->traits().models;
  const YamlKind kind = io.reader() ? io.reader()->kind("operators") : YamlKind::absent;
  const bool is_list = kind == YamlKind::list || kind == YamlKind::scalar ||
                       (io.writes() && config.choose_operators == OperatorPolicy::weights);
  if (is_list) {
    config.choose_operators = OperatorPolicy::weights;
    config.arm_cost.reset();
  }
  if (is_list || io.tells()) list_arms(io, "operators", models, config.operators);
  if (!is_list)
    io.map("operators", [&](Section& map) {
      map("choose", config.choose_operators, kPolicies,
          "how the next one is chosen, in place of a list alone");
      map.maybe("cost", config.arm_cost, kArmCosts, "what a try costs, for a bandit");
      map.by_default("`usd` if `budgets.usd` is set, else `tries`");
      list_arms(map, "arms", models, config.operators);
    });
  if (kind == YamlKind::absent || !io.ok()) return;
  if (const auto valid = operators_of(config); !valid)
    io.refuse("operators", valid.error().message, valid.error().hint);
}

Status check_operators(const RunConfig& config) {
  const auto models = config.proposer.provider->traits().models;
  for (const auto& entry : config.operators)
    if (const auto unknown = unknown_model(models, entry.choice.model)) return *unknown;
  if (config.arm_cost != ArmCost::usd) return {};
  const Status priced = config.proposer.provider->outlook().check_prices();
  if (priced) return {};
  return fail(ErrorCode::invalid_argument, "what a try costs in USD is not known: " + priced.error().message,
              "operators.cost", "name a file of prices (proposer.price_file), or set operators.cost=tokens");
}

}  // namespace kernelsmith
