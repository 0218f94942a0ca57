// The engine's options for a task and a configuration.
#include <utility>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/knob_setting.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith {
namespace {

/// The number of ancestors, and of children, that a prompt searches for lines tried before.
constexpr unsigned kKin = 4;
/// The number of the run's best programs, and of its latest, in a request. An agent reads a line about each,
/// and the text of those that it opens.
constexpr unsigned kHistory = 25;

/// EngineOptions::take_policies. Policies that the configuration sets, or that cannot be read, are left
/// unchanged.
void take_policies(const Task& task, RunConfig config, const std::map<std::string, std::string>& settings,
                   EngineOptions& options) {
  const auto own = policy_texts(config);
  bool others = false;
  for (const std::string name : kPolicySettings) {
    const auto recorded = settings.find(name);
    if (recorded == settings.end() || recorded->second == own.at(name)) continue;
    RunConfig read = config;
    if (!read_policy(name, recorded->second, read)) continue;
    config = std::move(read);
    others = true;
  }
  if (!others) return;
  auto sampler = config.sampler.provider->make(task, {});
  auto operators = operators_of(config);
  if (!sampler || !operators) return;
  options.sampler = std::move(*sampler);
  options.operators = std::move(*operators);
  options.ends_when_exhausted = only_tunes(config);
}

}  // namespace

Result<EngineOptions> engine_options(const Task& task, const RunConfig& config) {
  auto topology = topology_of(config);
  if (!topology) return topology.error();
  auto operators = operators_of(config);
  if (!operators) return operators.error();
  auto sampler = config.sampler.provider->make(task, {});
  if (!sampler) return sampler.error();
  auto migration = config.migration.provider->make(task, {});
  if (!migration) return migration.error();

  EngineOptions options;
  options.budgets = config.budgets;
  if (!task.seed.empty()) options.seeds = {task.seed};
  options.has_reference = !task.reference.empty();
  options.seed = config.seed;
  options.task = task.digest;
  options.axes = config.axes.value_or(std::vector<AxisSpec>{});
  options.objectives = config.objectives;
  options.topology = std::move(*topology);
  options.island = config.island;
  options.describe = [axes = options.axes](const Source& source, const Evaluation&) {
    return source_features(source, axes);
  };
  options.fingerprint = fingerprint;
  options.knobs = knob_setting;
  options.sampler = std::move(*sampler);
  options.operators = std::move(*operators);
  options.migration = std::move(*migration);
  options.migration_period = config.migration_period;
  options.repairs = config.repairs;
  options.duels = config.duels;
  options.tunings = config.tunings;
  options.confirm = config.confirm;
  options.kin = kKin;
  options.history = kHistory;
  options.idle_iterations = config.idle_iterations;
  options.ends_when_exhausted = only_tunes(config);
  options.deterministic = config.deterministic;
  options.pipeline = config.pipeline;
  options.evaluations_in_flight = config.workers;
  // Every command that asks whether the money covers another call, `show` included, must get the same answer.
  if (const auto recording = config.proposer.provider->traits().recorded; !recording || recording->live)
    if (const auto planner = config.proposer.provider->planner(task); planner && *planner)
      options.forecast_usd = [planner = *planner](const ProposalRequest& request) {
        const auto call = planner(request);
        return call ? call->usd : std::nullopt;
      };
  options.proposals_in_flight = config.proposer.provider->traits().in_flight.value_or(config.workers);
  options.error_limit = config.error_limit;
  if (!config.memory.snapshot.empty()) options.fixed.emplace("memory", config.memory.snapshot);
  options.give_up_at_time = [outlook = config.proposer.provider->outlook()](const std::string& model) {
    const AskedModel* asked = outlook.find(model);
    return asked && asked->may_be_given_up;
  };
  // A replay repeats migrations, so it needs the run's own policy. Selections and proposals come from the
  // journal, so the sampler matters in a deterministic run only.
  for (auto& [name, text] : policy_texts(config))
    (config.deterministic || name == "migration" ? options.fixed : options.recorded)
        .emplace(name, std::move(text));
  options.take_policies = [task, config](const auto& settings, EngineOptions& of_session) {
    take_policies(task, config, settings, of_session);
  };
  return options;
}

}  // namespace kernelsmith
