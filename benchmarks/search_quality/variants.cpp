// The default with one thing changed.
#include <kernelsmith/engine/bandit.hpp>
#include <kernelsmith/islands/sampler.hpp>

#include "arms.hpp"

namespace kernelsmith::bench {
namespace {

Arm chooser(std::string name, Change change) {
  return {std::move(name), [change = std::move(change)](EvalServer& server, std::uint64_t seed) {
            kernelsmith_search(server, seed, change);
          }};
}

Arm variant(std::string name, std::function<void(EngineOptions&)> change) {
  return chooser(std::move(name),
                 [change = std::move(change)](EngineOptions& options, const Choices&) { change(options); });
}

/// On axes over the structure of programs.
Arm structural(std::string name, std::function<void(EngineOptions&)> change = {}) {
  return chooser(std::move(name),
                 [change = std::move(change)](EngineOptions& options, const Choices& choices) {
                   options.axes = choices.structure;
                   if (change) change(options);
                 });
}

void bandit(EngineOptions& options, const Choices& choices) {
  options.operators = std::make_shared<BanditOperators>(BanditOperators::create(choices.arms).value());
}

/// Every parent is drawn uniformly from the filled cells.
void uniform_cells(EngineOptions& options) {
  options.sampler = std::make_shared<MixtureSampler>(
      MixtureSampler::create({.explore = 1, .exploit = 0, .weighted = 0}).value());
}

std::function<void(EngineOptions&)> tree(TreeOptions options) {
  return [options](EngineOptions& engine) {
    engine.sampler = std::make_shared<TreeSampler>(TreeSampler::create(options).value());
  };
}

std::function<void(EngineOptions&)> islands(std::size_t count) {
  return [count](EngineOptions& engine) { engine.topology = Topology::ring(count).value(); };
}

}  // namespace

std::vector<Arm> variants() {
  return {
      variant("islands-2", islands(2)),
      variant("islands-4", islands(4)),
      variant("opening-0", tree({.opening = 0})),
      variant("opening-10", tree({.opening = 10})),
      variant("exploration-0", tree({.exploration = 0})),
      variant("repairs-0", [](EngineOptions& options) { options.repairs = 0; }),
      variant("duels-2", [](EngineOptions& options) { options.duels = 2; }),
      structural("structural"),
      structural("map-elites", uniform_cells),
      variant("map-elites-complexity", uniform_cells),
      structural("structural-islands-4", islands(4)),
      variant("one-cell", [](EngineOptions& options) { options.axes = {}; }),
      chooser("bandit", bandit),
      variant("no-confirm", [](EngineOptions& options) { options.confirm = false; }),
  };
}

}  // namespace kernelsmith::bench
