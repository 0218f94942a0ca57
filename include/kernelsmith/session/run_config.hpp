// RunConfig: how a task is searched. run.yaml (docs/formats.md) is its text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/archive/axis.hpp>
#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/config/section.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/engine/bandit.hpp>
#include <kernelsmith/engine/operators.hpp>
#include <kernelsmith/engine/options.hpp>
#include <kernelsmith/islands/island.hpp>
#include <kernelsmith/islands/topology.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

/// A provider with the name of its kind. Copies share the provider.
template <class P>
struct Chosen {
  std::string kind;
  std::shared_ptr<P> provider;
};

enum class TopologyKind { ring, full, star, edges };
std::string_view name_of(TopologyKind kind);

/// What a run with a model spends on the knobs of a new structure. With the program itself it makes the five
/// observations after which the tuner models the space (TuningOptions::start).
inline constexpr unsigned kTuningsOfModels = 4;

/// Axes that have a name in run.yaml (docs/formats.md).
enum class AxesPreset {
  kernel_smith,  ///< as the paper has them: the length of the code beside the fitness
  behaviour,     ///< what the backend tells candidates apart by: BackendDescription::behaviour
};
std::string_view name_of(AxesPreset preset);

/// How the next operator and its model are chosen.
enum class OperatorPolicy { weights, bandit };
std::string_view name_of(OperatorPolicy policy);

/// Rules across runs (docs/memory.md); off while no store is named.
struct MemorySettings {
  std::string store;                 ///< the folder
  std::size_t budget_tokens = 3000;  ///< of each prompt, for what is shown
  std::string snapshot;    ///< the digest of what the run read, as hexadecimal digits; empty: nothing
  bool is_stored = false;  ///< the store's name comes from a run folder, which others may have made
};

/// The configuration of a run. A value; its providers are shared.
struct RunConfig {
  Budgets budgets;  ///< none set: see with_default_budget
  std::uint64_t seed = 1;
  bool deterministic = false;
  std::uint64_t pipeline = 8;
  unsigned workers = 2;  ///< evaluations in flight
  Durability durability = Durability::process;

  std::optional<std::vector<AxisSpec>> axes;  ///< if it is not set: see set_default_axes
  std::optional<AxesPreset> axes_preset;      ///< what it is set to then
  Objectives objectives;                      ///< the fitness alone by default
  std::size_t islands = 1;  ///< more are worse up to 200 evaluations: docs/search-quality.md
  TopologyKind topology = TopologyKind::ring;
  std::vector<MigrationEdge> edges;  ///< for TopologyKind::edges
  IslandOptions island;
  double migration_period = 0.1;

  std::vector<WeightedOperators::Entry> operators;  ///< a bandit's weights are 0 or 1
  OperatorPolicy choose_operators = OperatorPolicy::weights;
  std::optional<ArmCost> arm_cost;  ///< for a bandit; empty: see BanditOperators::create
  unsigned repairs = 0;
  unsigned duels = 0;
  unsigned tunings = 0;  ///< EngineOptions::tunings; `--model` and `--manual` set kTuningsOfModels
  bool confirm = true;
  unsigned idle_iterations = 256;
  unsigned error_limit = 5;

  BackendDescription backend;  ///< of the task; only its name if the registry does not describe it
  Chosen<EvaluatorProvider> evaluator;
  Chosen<ProposerProvider> proposer;
  Chosen<SamplerProvider> sampler;
  Chosen<MigrationProvider> migration;

  MemorySettings memory;
};

/// The defaults for a task: its backend as the evaluator, and the tuner as the proposer. `unsupported` if
/// the registry lacks one of them.
Result<RunConfig> default_config(const Task& task, const Registry& registry);

/// If the axes are not set: those of the preset. Without one, for a search that only tunes: the knobs of the
/// seed with the most values, at most two, each a categorical axis over its values. For one that writes code,
/// or if the seed has no knob: cyclomatic complexity, on a logarithmic axis around the seed's own, beside
/// fitness if that is a speedup (the task has a reference), else beside tokens.
void set_default_axes(const Task& task, RunConfig& config);

/// What axes can read of a source beside the evaluator's own features: the static features, and `knob.NAME`.
/// On a categorical axis that is the index of the category that is the knob's value, or is nearest to it: the
/// axes' lists count, whatever the source lists. For any other axis it is the value itself, if it is a
/// number.
std::map<std::string, double> source_features(const Source& source, std::span<const AxisSpec> axes);

/// In EngineOptions::recorded: what a program sets whose EngineOptions::describe is source_features(). Its
/// run can then be viewed with its cells.
inline constexpr const char* kDescribeSetting = "describe";
inline constexpr const char* kSourceFeatures = "source features";

/// Makes it the proposer, which is asked for its own operators.
void take_proposer(Chosen<ProposerProvider> proposer, RunConfig& config);

/// Lays the keys of a run.yaml over `config`. Unknown keys, names and values out of range are refused with
/// file:line and the nearest known name; on an error `config` is in no useful state.
Status read_config(std::string_view yaml, const std::string& file, const Registry& registry,
                   RunConfig& config);

/// Every key of run.yaml in words, in the order of to_yaml().
std::vector<SettingText> setting_texts(const Registry& registry);

/// The policy that chooses among the operators. Refuses (`invalid_argument`) what WeightedOperators or
/// BanditOperators refuses, a bandit's weight that is neither 0 nor 1, and a cost without a bandit.
Result<std::shared_ptr<const Operators>> operators_of(const RunConfig& config);

/// Refuses operators that name a model which the proposer does not have, and a bandit's cost in USD if a
/// model has no price.
Status check_operators(const RunConfig& config);

/// run.yaml with every setting written out; read_config gives it back.
std::string to_yaml(const RunConfig& config);

/// The policies' sections of run.yaml, each as one line, by name: migration, sampler, proposer, operators.
std::map<std::string, std::string> policy_texts(const RunConfig& config);

/// Reads one of kPolicySettings back from policy_texts(), perhaps of an older version. On an error `config`
/// is in no useful state.
Status read_policy(const std::string& name, const std::string& text, RunConfig& config);

/// If no budget is set: 60 seconds of wall time, or 200 iterations for a deterministic run, which takes no
/// wall time.
void set_default_budget(RunConfig& config);

/// Whether every child is the tuner's.
bool only_tunes(const RunConfig& config);

/// The command, or words where only a program can, that goes on with a run of such a proposer; `to_the_end`:
/// until its best has been measured again.
std::string goes_on(const ProposerTraits& traits, const std::string& run, bool to_the_end = false);

/// The same, with what `resume` does not take from the run folder.
std::string goes_on(const RunConfig& config, const std::filesystem::path& run, bool to_the_end = false);

/// The topology that the configuration describes.
Result<Topology> topology_of(const RunConfig& config);

}  // namespace kernelsmith
