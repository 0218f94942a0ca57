// The default with one thing changed, or several.
#include <kernelsmith/engine/bandit.hpp>
#include <kernelsmith/engine/operators.hpp>
#include <kernelsmith/islands/sampler.hpp>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

Arm variant(std::string name, std::vector<Change> changes) {
  const Change all = [changes = std::move(changes)](EngineOptions& options, const Choices& choices) {
    for (const Change& change : changes) change(options, choices);
  };
  return {std::move(name),
          [all](EvalServer& server, std::uint64_t seed) { kernelsmith_search(server, seed, all); }};
}

template <class Value>
Change with(Value EngineOptions::*option, Value value) {
  return [=](EngineOptions& options, const Choices&) { options.*option = value; };
}

/// Axes that say nothing: the control for those over the structure.
void by_size(EngineOptions& options, const Choices& choices) { options.axes = choices.size; }

void bandit(EngineOptions& options, const Choices& choices) {
  options.operators = std::make_shared<BanditOperators>(BanditOperators::create(choices.arms).value());
}

/// The steps that a search draws which shows no mate: two rewrites for an edit, and no crossover.
void without_mates(EngineOptions& options, const Choices& choices) {
  std::vector<WeightedOperators::Entry> entries;
  for (const OperatorChoice& choice : choices.arms)
    if (choice.op != Operator::crossover)
      entries.push_back({choice, choice.op == Operator::rewrite ? 2.0 : 1.0});
  options.operators = std::make_shared<WeightedOperators>(WeightedOperators::create(entries).value());
}

Change tree(TreeOptions options) {
  return [sampler = std::make_shared<TreeSampler>(TreeSampler::create(options).value())](
             EngineOptions& engine, const Choices&) { engine.sampler = sampler; };
}

Change mixture(MixtureOptions options) {
  return [sampler = std::make_shared<MixtureSampler>(MixtureSampler::create(options).value())](
             EngineOptions& engine, const Choices&) { engine.sampler = sampler; };
}

constexpr std::size_t kAll = 1'000'000;
constexpr double kNone = 1e-9;

Change islands(std::size_t count) { return with(&EngineOptions::topology, Topology::ring(count).value()); }

}  // namespace

std::vector<Arm> variants() {
  const Change uniform_cells = mixture({.explore = 1, .exploit = 0, .weighted = 0});
  return {
      variant("islands-2", {islands(2)}),
      variant("islands-4", {islands(4)}),
      variant("opening-0", {tree({.opening = 0})}),
      variant("opening-10", {tree({.opening = 10})}),
      variant("exploration-0", {tree({.exploration = 0})}),
      variant("tree", {tree({.uniform = 0})}),
      variant("cells-4", {tree({.cells = 4})}),
      variant("cells-all", {tree({.cells = kAll})}),
      variant("patience-10", {tree({.patience = 10})}),
      variant("always", {tree({.patience = kNone})}),
      variant("before", {by_size, tree({.uniform = 0})}),
      variant("complexity", {by_size}),
      variant("duels-2", {with(&EngineOptions::duels, 2U)}),
      variant("map-elites", {uniform_cells}),
      variant("map-elites-complexity", {by_size, uniform_cells}),
      variant("one-cell", {with(&EngineOptions::axes, std::vector<AxisSpec>{})}),
      variant("bandit", {bandit}),
      variant("no-crossover", {without_mates}),
      // What is left beside greedy-1 is how parents are chosen.
      variant("bare", {without_mates, tree({.opening = 0}), with(&EngineOptions::repairs, 0U),
                       with(&EngineOptions::confirm, false)}),
      variant("no-confirm", {with(&EngineOptions::confirm, false)}),
  };
}

}  // namespace kernelsmith::bench
