#include <algorithm>
#include <thread>

#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {
namespace {

constexpr auto kTopologyKinds = detail::enum_names<TopologyKind>({
    {TopologyKind::ring, "ring"},
    {TopologyKind::full, "full"},
    {TopologyKind::star, "star"},
    {TopologyKind::edges, "edges"},
});

constexpr auto kAxesPresetNames = detail::enum_names<AxesPreset>({
    {AxesPreset::kernel_smith, "kernel-smith"},
    {AxesPreset::behaviour, "behaviour"},
});

constexpr const char* kResume = "kernelsmith resume ";
constexpr double kDefaultWallSeconds = 60;
constexpr std::uint64_t kDefaultIterations = 200;

template <class P>
Status choose(const Kinds<P>& kinds, const std::string& kind, const std::string& what, Chosen<P>& chosen) {
  if (const auto found = kinds.find(kind); found != kinds.end()) {
    chosen = {kind, found->second()};
    return {};
  }
  std::vector<std::string_view> names;
  for (const auto& [name, make] : kinds) names.push_back(name);
  return fail(ErrorCode::unsupported, "this build has no " + what + " \"" + kind + "\"", "",
              name_hint(kind, names));
}

}  // namespace

std::string_view name_of(TopologyKind kind) { return detail::name_in(kTopologyKinds, kind); }
std::string_view name_of(AxesPreset preset) { return detail::name_in(kAxesPresetNames, preset); }

Result<RunConfig> default_config(const Task& task, const Registry& registry) {
  RunConfig config;
  Chosen<ProposerProvider> proposer;
  for (const Status& ok : {choose(registry.evaluators, task.backend, "backend", config.evaluator),
                           choose(registry.proposers, "tuner", "proposer", proposer),
                           choose(registry.samplers, "cells", "sampler", config.sampler),
                           choose(registry.migrations, "best", "migration", config.migration)})
    if (!ok) return ok.error();
  const auto described = registry.backends.find(task.backend);
  if (described != registry.backends.end()) config.backend = described->second;
  config.backend.name = task.backend;
  take_proposer(std::move(proposer), config);
  config.workers = std::max(1u, std::thread::hardware_concurrency());
  return config;
}

void take_proposer(Chosen<ProposerProvider> proposer, RunConfig& config) {
  config.proposer = std::move(proposer);
  config.proposer.provider->context.backend = config.backend;
  config.operators.clear();
  for (auto& choice : config.proposer.provider->traits().operators)
    config.operators.push_back({std::move(choice), 1.0});
}

bool only_tunes(const RunConfig& config) {
  return std::ranges::all_of(config.operators,
                             [](const auto& entry) { return entry.choice.op == Operator::tune; });
}

std::string goes_on(const ProposerTraits& traits, const std::string& run, bool to_the_end) {
  const std::string word = shell_word(run);
  if (traits.driver.empty()) return kResume + word;
  if (traits.driver == "program")
    return "in Python, kernelsmith.run('" + run + "/task', proposer=..., out='" + run + "')";
  if (to_the_end) return "python -m kernelsmith mcp " + word + " --finish";
  return "python -m kernelsmith " + traits.driver + " " + word +
         (traits.driver == "agent" ? " --model NAME" : "");
}

std::string goes_on(const RunConfig& config, const std::filesystem::path& run, bool to_the_end) {
  const ProposerTraits traits = config.proposer.provider->traits();
  std::string text = goes_on(traits, run.string(), to_the_end);
  for (const std::string& setting : config.proposer.provider->settings_to_reconfirm())
    text += " --set " + shell_word("proposer." + setting);
  if (traits.driver.empty())
    for (const std::string& setting : config.evaluator.provider->settings_to_reconfirm())
      text += " --set " + shell_word("evaluator." + setting);
  return text;
}

void set_default_budget(RunConfig& config) {
  Budgets limits = config.budgets;
  if (only_tunes(config)) limits.calls.reset();  // The tuner makes no calls.
  if (limits != Budgets{}) return;
  if (config.deterministic)
    config.budgets.iterations = kDefaultIterations;
  else
    config.budgets.wall_s = kDefaultWallSeconds;
}

Result<Topology> topology_of(const RunConfig& config) {
  switch (config.topology) {
    case TopologyKind::ring:
      return Topology::ring(config.islands);
    case TopologyKind::full:
      return Topology::full(config.islands);
    case TopologyKind::star:
      return Topology::star(config.islands);
    case TopologyKind::edges:
      break;
  }
  return Topology::from_edges(config.islands, config.edges);
}

}  // namespace kernelsmith
