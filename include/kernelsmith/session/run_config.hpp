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

/// The number of tunings of a new structure in a run with a model. Together with the program itself they give
/// the five observations that the tuner needs to model the space (TuningOptions::start).
inline constexpr unsigned kTuningsOfModels = 4;

/// Named presets of axes in run.yaml (docs/formats.md).
enum class AxesPreset {
  kernel_smith,  ///< the axes of the Kernel-Smith paper: the length of the code and the fitness
  behaviour,     ///< the default: the backend's BackendDescription::behaviour
};
std::string_view name_of(AxesPreset preset);

/// The policy that chooses the next operator and its model.
enum class OperatorPolicy { weights, bandit };
std::string_view name_of(OperatorPolicy policy);

/// Rules across runs (docs/memory.md); off while no store is named.
struct MemorySettings {
  std::string store;                 ///< the folder
  std::size_t budget_tokens = 3000;  ///< tokens of each prompt that the rules may use
  std::string snapshot;    ///< the digest, in hexadecimal, of the rules that the run read; empty if it read
                           ///< none
  bool is_stored = false;  ///< the store's name comes from a run folder that others may have made
};

/// The configuration of a run. A value; its providers are shared.
struct RunConfig {
  Budgets budgets;  ///< if none is set, see set_default_budget
  std::uint64_t seed = 1;
  bool deterministic = false;
  std::uint64_t pipeline = 8;
  unsigned workers = 2;  ///< evaluations in flight
  Durability durability = Durability::process;

  std::optional<std::vector<AxisSpec>> axes;  ///< if empty, see set_default_axes
  std::optional<AxesPreset> axes_preset;      ///< the preset to use if `axes` is empty
  Objectives objectives;                      ///< the fitness alone by default
  std::size_t islands = 1;                    ///< more islands give worse results below 200 evaluations
                                              ///< (docs/search-quality.md)
  TopologyKind topology = TopologyKind::ring;
  std::vector<MigrationEdge> edges;  ///< for TopologyKind::edges
  IslandOptions island;
  double migration_period = 0.1;

  std::vector<WeightedOperators::Entry> operators;  ///< a bandit's weights are 0 or 1
  OperatorPolicy choose_operators = OperatorPolicy::weights;
  std::optional<ArmCost> arm_cost;  ///< only for a bandit; if empty, see BanditOperators::create
  unsigned repairs = 0;
  unsigned duels = 0;
  unsigned tunings = 0;  ///< EngineOptions::tunings; `--model` and `--manual` set kTuningsOfModels
  bool confirm = true;
  unsigned idle_iterations = 256;
  unsigned error_limit = 5;

  BackendDescription backend;  ///< the task's; has only a name if the registry has no description
  Chosen<EvaluatorProvider> evaluator;
  Chosen<ProposerProvider> proposer;
  Chosen<SamplerProvider> sampler;
  Chosen<MigrationProvider> migration;

  MemorySettings memory;
};

/// The defaults for a task: its backend as the evaluator, and the tuner as the proposer. Errors:
/// `unsupported` if the registry lacks one of them.
Result<RunConfig> default_config(const Task& task, const Registry& registry);

/// Sets the axes if they are not set. If there is a preset, they are the preset's. Otherwise, a search that
/// only tunes gets at most two axes, each a knob of the seed with its values as categories: the knobs with
/// the most values. For a search that writes code, or a seed without knobs, the first axis is cyclomatic
/// complexity, logarithmic and around the seed's own value. The second axis is fitness if that is a speedup
/// (the task has a reference), else the number of tokens.
void set_default_axes(const Task& task, RunConfig& config);

/// Features of a source for axes, in addition to the evaluator's: the static features and `knob.NAME`. On a
/// categorical axis `knob.NAME` is the index of the category that equals the knob's value or is nearest to
/// it. The source's own list of values does not matter. On other axes `knob.NAME` is the value itself, if it
/// is a number.
std::map<std::string, double> source_features(const Source& source, std::span<const AxisSpec> axes);

/// A name and a value in EngineOptions::recorded. A program whose EngineOptions::describe is
/// source_features() sets it, so that viewers can show the cells of its run.
inline constexpr const char* kDescribeSetting = "describe";
inline constexpr const char* kSourceFeatures = "source features";

/// Sets the proposer and its default operators.
void take_proposer(Chosen<ProposerProvider> proposer, RunConfig& config);

/// Overrides `config` with the keys of a run.yaml. Unknown keys, unknown names and values out of range are
/// refused with file:line and the nearest known name. After an error `config` is unusable.
Status read_config(std::string_view yaml, const std::string& file, const Registry& registry,
                   RunConfig& config);

/// Descriptions of all keys of run.yaml, in the order of to_yaml().
std::vector<SettingText> setting_texts(const Registry& registry);

/// The policy that chooses among the operators. Refuses (`invalid_argument`) a list that WeightedOperators or
/// BanditOperators refuses, a bandit's weight that is neither 0 nor 1, and a cost without a bandit.
Result<std::shared_ptr<const Operators>> operators_of(const RunConfig& config);

/// Refuses operators with a model that the proposer lacks, and a bandit's cost in USD if a model has no
/// price.
Status check_operators(const RunConfig& config);

/// The text of run.yaml with every setting written out. read_config() reads it back.
std::string to_yaml(const RunConfig& config);

/// The sections of run.yaml for the policies migration, sampler, proposer and operators: by name, each as one
/// line.
std::map<std::string, std::string> policy_texts(const RunConfig& config);

/// Reads one of kPolicySettings from a text of policy_texts(), perhaps of an older version. After an error
/// `config` is unusable.
Status read_policy(const std::string& name, const std::string& text, RunConfig& config);

/// If no budget is set: 60 seconds of wall time, or 200 iterations for a deterministic run, which allows no
/// limit of wall time.
void set_default_budget(RunConfig& config);

/// Whether the tuner makes every child.
bool only_tunes(const RunConfig& config);

/// The command that continues a run with such a proposer, or an explanation if only a program can continue
/// it. With `to_the_end` the run continues until its best has been measured again.
std::string goes_on(const ProposerTraits& traits, const std::string& run, bool to_the_end = false);

/// The same command with the settings that `resume` does not trust if they come from the run folder.
std::string goes_on(const RunConfig& config, const std::filesystem::path& run, bool to_the_end = false);

/// The topology that the configuration describes.
Result<Topology> topology_of(const RunConfig& config);

}  // namespace kernelsmith
