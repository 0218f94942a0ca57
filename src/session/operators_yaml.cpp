#include "operators_yaml.hpp"

#include <algorithm>

#include <kernelsmith/config/nearest_name.hpp>

namespace kernelsmith {
namespace {

using Entries = std::vector<WeightedOperators::Entry>;

const Choices<Operator> kOperators =
    choices({Operator::edit, Operator::rewrite, Operator::crossover, Operator::tune});
const Choices<OperatorPolicy> kPolicies = choices({OperatorPolicy::weights, OperatorPolicy::bandit});
const Choices<ArmCost> kArmCosts = choices({ArmCost::tries, ArmCost::usd, ArmCost::tokens});

/// What is wrong with the model of an operator, if something is.
std::optional<Error> unknown_model(const std::vector<std::string>& models, const std::string& name) {
  if (name.empty() || models.empty() || std::ranges::find(models, name) != models.end()) return std::nullopt;
  const std::vector<std::string_view> names(models.begin(), models.end());
  return fail(ErrorCode::invalid_argument, "no model \"" + name + "\" is configured (proposer.models)",
              "operators", name_hint(name, names));
}

void read_arms(YamlMap& in, std::string_view key, const std::vector<std::string>& models, Entries& entries) {
  if (in.kind(key) == YamlKind::absent) return;
  entries.clear();
  in.optional_maps(key, [&](YamlMap& item) {
    auto& entry = entries.emplace_back();
    item.required("operator", entry.choice.op, kOperators);
    item.optional("model", entry.choice.model);
    item.optional("weight", entry.weight, {0.0, 1e9});
    if (const auto unknown = unknown_model(models, entry.choice.model); unknown && item.ok())
      item.refuse("model", unknown->message, unknown->hint);
  });
}

void write_arms(YamlWriter& out, std::string_view key, const Entries& entries) {
  out.maps(key, entries, [](YamlWriter& item, const WeightedOperators::Entry& entry) {
    item.put("operator", name_of(entry.choice.op));
    if (!entry.choice.model.empty()) item.put("model", entry.choice.model);
    item.put("weight", entry.weight);
  });
}

void read_policy(YamlMap& in, const std::vector<std::string>& models, RunConfig& config) {
  in.optional("choose", config.choose_operators, kPolicies);
  if (in.kind("cost") != YamlKind::absent) in.required("cost", config.arm_cost.emplace(), kArmCosts);
  read_arms(in, "arms", models, config.operators);
}

/// The bandit over the entries that are in use.
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
    return fail(ErrorCode::invalid_argument, "weights know no cost: only the bandit looks at it", "operators",
                "leave `cost` out, or set choose: bandit");
  auto weighted = WeightedOperators::create(config.operators);
  if (!weighted) return weighted.error();
  return std::make_shared<const WeightedOperators>(std::move(*weighted));
}

void read_operators(YamlMap& in, RunConfig& config) {
  const auto models = config.proposer.provider->models();
  const YamlKind kind = in.kind("operators");
  if (kind == YamlKind::absent) return;
  if (kind == YamlKind::map) {
    in.optional_map("operators", [&](YamlMap& map) { read_policy(map, models, config); });
  } else {
    config.choose_operators = OperatorPolicy::weights;
    config.arm_cost.reset();
    read_arms(in, "operators", models, config.operators);
  }
  if (!in.ok()) return;
  if (const auto valid = operators_of(config); !valid)
    in.refuse("operators", valid.error().message, valid.error().hint);
}

void write_operators(YamlWriter& out, const RunConfig& config) {
  if (config.choose_operators == OperatorPolicy::weights)
    return write_arms(out, "operators", config.operators);
  out.map("operators", [&](YamlWriter& map) {
    map.put("choose", name_of(config.choose_operators));
    if (config.arm_cost) map.put("cost", name_of(*config.arm_cost));
    write_arms(map, "arms", config.operators);
  });
}

Status check_operators(const RunConfig& config) {
  const auto models = config.proposer.provider->models();
  for (const auto& entry : config.operators)
    if (const auto unknown = unknown_model(models, entry.choice.model)) return *unknown;
  if (config.arm_cost != ArmCost::usd) return {};
  const Status priced = config.proposer.provider->check_prices();
  if (priced) return {};
  return fail(ErrorCode::invalid_argument, "what a try costs in USD is not known: " + priced.error().message,
              "operators.cost", "name a file of prices (proposer.price_file), or set operators.cost=tokens");
}

}  // namespace kernelsmith
