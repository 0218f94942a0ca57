// RunConfig: the settings of a search. Its text form is run.yaml (docs/formats.md).
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

/// Tunings of a new structure in a run with a model. With the program itself they make the five observations
/// after which the tuner models the space (TuningOptions::start).
inline constexpr unsigned kTuningsOfModels = 4;

/// Named presets of axes in run.yaml (docs/formats.md).
enum class AxesPreset {
  kernel_smith,  ///< the paper's: the length of the code and the fitness
  behaviour,     ///< the backend's BackendDescription::behaviour
};
std::string_view name_of(AxesPreset preset);

/// The policy that chooses the next operator and its model.
enum class OperatorPolicy { weights, bandit };
std::string_view name_of(OperatorPolicy policy);

/// Rules across runs (docs/memory.md); off while no store is named.
struct MemorySettings {
  std::string store;                 ///< the folder
  std::size_t budget_tokens = 3000;  ///< the rules' share of each prompt
  std::string snapshot;    ///< the digest of the rules that the run read, in hexadecimal; empty: none
  bool is_stored = false;  ///< the store's name comes from a run folder that others may have made
};

/// The configuration of a run. A value; its providers are shared.
struct RunConfig {
  Budgets budgets;  ///< none set: see with_default_budget
  std::uint64_t seed = 1;
  bool deterministic = false;
  std::uint64_t pipeline = 8;
  unsigned workers = 2;  ///< evaluations in flight
  Durability durability = Durability::process;

  std::optional<std::vector<AxisSpec>> axes;  ///< empty: see set_default_axes
  std::optional<AxesPreset> axes_preset;      ///< the preset used then
  Objectives objectives;                      ///< the fitness alone by default
  std::size_t islands = 1;  ///< more are worse below 200 evaluations (docs/search-quality.md)
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

  BackendDescription backend;  ///< backend of the task; only its name if the registry has no description
  Chosen<EvaluatorProvider> evaluator;
  Chosen<ProposerProvider> proposer;
  Chosen<SamplerProvider> sampler;
  Chosen<MigrationProvider> migration;

  MemorySettings memory;
};

/// The defaults for a task: its backend as the evaluator, and the tuner as the proposer. `unsupported` if
/// the registry lacks one of them.
Result<RunConfig> default_config(const Task& task, const Registry& registry);

/// Sets the axes if they are not set: to the preset's, if there is one. Otherwise a search that only tunes
/// gets the seed's knobs with the most values, at most two, each as a categorical axis. A search that writes
/// code, or a seed without knobs, gets cyclomatic complexity on a logarithmic axis around the seed's own. Its
/// second axis is fitness if that is a speedup (the task has a reference), else the number of tokens.
void set_default_axes(const Task& task, RunConfig& config);

/// Features of a source for axes, in addition to the evaluator's: the static features and `knob.NAME`. On a
/// categorical axis `knob.NAME` is the index of the category that equals the knob's value or is nearest to
/// it; only the axis's list matters, not the source's. On other axes it is the value itself, if it is a
/// number.
std::map<std::string, double> source_features(const Source& source, std::span<const AxisSpec> axes);

/// Set in EngineOptions::recorded by a program whose EngineOptions::describe is source_features(), so that
/// viewers can show the cells of its run.
inline constexpr const char* kDescribeSetting = "describe";
inline constexpr const char* kSourceFeatures = "source features";

/// Makes it the proposer and sets the proposer's default operators.
void take_proposer(Chosen<ProposerProvider> proposer, RunConfig& config);

/// Overrides `config` with the keys of a run.yaml. Unknown keys, unknown names and values out of range are
/// refused with file:line and the nearest known name. After an error `config` is unusable.
Status read_config(std::string_view yaml, const std::string& file, const Registry& registry,
                   RunConfig& config);

/// Descriptions of all keys of run.yaml, in the order of to_yaml().
std::vector<SettingText> setting_texts(const Registry& registry);

/// The policy that chooses among the operators. Refuses (`invalid_argument`) what WeightedOperators or
/// BanditOperators refuses, a bandit's weight that is neither 0 nor 1, and a cost without a bandit.
Result<std::shared_ptr<const Operators>> operators_of(const RunConfig& config);

/// Refuses operators with a model that the proposer lacks, and a bandit's cost in USD if a model has no
/// price.
Status check_operators(const RunConfig& config);

/// run.yaml with every setting written out; read_config gives it back.
std::string to_yaml(const RunConfig& config);

/// The policies' sections of run.yaml, each as one line, by name: migration, sampler, proposer, operators.
std::map<std::string, std::string> policy_texts(const RunConfig& config);

/// Reads one of kPolicySettings back from policy_texts(), perhaps of an older version. After an error
/// `config` is unusable.
Status read_policy(const std::string& name, const std::string& text, RunConfig& config);

/// If no budget is set: 60 seconds of wall time, or 200 iterations for a deterministic run, which allows no
/// limit of wall time.
void set_default_budget(RunConfig& config);

/// Whether the tuner makes every child.
bool only_tunes(const RunConfig& config);

/// The command that continues a run of such a proposer, or an explanation if only a program can.
/// `to_the_end`: until its best has been measured again.
std::string goes_on(const ProposerTraits& traits, const std::string& run, bool to_the_end = false);

/// The same, with the settings that `resume` does not trust from the run folder.
std::string goes_on(const RunConfig& config, const std::filesystem::path& run, bool to_the_end = false);

/// The topology that the configuration describes.
Result<Topology> topology_of(const RunConfig& config);

}  // namespace kernelsmith
