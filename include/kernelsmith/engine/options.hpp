// EngineOptions: the settings of an engine. All except the budgets have defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/archive/axis.hpp>
#include <kernelsmith/archive/objectives.hpp>
#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/knob_history.hpp>
#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/engine/operators.hpp>
#include <kernelsmith/islands/island.hpp>
#include <kernelsmith/islands/migration.hpp>
#include <kernelsmith/islands/sampler.hpp>
#include <kernelsmith/islands/topology.hpp>

namespace kernelsmith {

/// Limits for the whole run, over all its sessions. At least one must be set.
struct Budgets {
  std::optional<std::uint64_t> iterations;   ///< number of answered tickets that asked for a child
  std::optional<std::uint64_t> evaluations;  ///< number of evaluations, including seeds, repairs and
                                             ///< re-measurements
  /// After this time nothing new starts. Duels, and evaluations of the tuner's children, are given up because
  /// they have become useless. The run waits for the answers of models and evaluates them. Measuring the best
  /// again (confirm) takes additional time.
  std::optional<double> wall_s;
  /// US dollars for calls to models. A call starts if the money that is left covers it and all calls under
  /// way. Each call is assumed to cost as much as the most expensive call so far of its model and operator.
  /// If there was none, it is assumed to cost as much as the most expensive call of all, and at least
  /// EngineOptions::forecast_usd. Until a model has answered once, it gets one call at a time.
  std::optional<double> usd = std::nullopt;
  /// The run ends (EndReason::flat) when the remaining evaluations and iterations are expected to raise the
  /// best's fitness by less than this many percent (SearchState::expected_gain). If neither evaluations nor
  /// iterations are limited, as many evaluations as were made count as remaining.
  std::optional<double> until_flat = std::nullopt;
  /// Number of answered requests to a model, an agent or a person: children and repairs that the tuner does
  /// not make. Refusals count, requests that ended with an error do not. New structures are still tuned.
  std::optional<std::uint64_t> calls = std::nullopt;

  friend bool operator==(const Budgets&, const Budgets&) = default;
};

/// The names in EngineOptions::recorded of the policies that may change from one session of a run to the
/// next.
inline constexpr std::array<const char*, 2> kPolicySettings{"sampler", "operators"};

/// All settings of a search, without its evaluator, proposer and journal.
struct EngineOptions {
  // The search and its limits.
  Budgets budgets;
  std::vector<Source>
      seeds;  ///< evaluated first and added to every island; if empty, Operator::translate begins
  bool seeds_must_pass = true;  ///< if every seed is rejected the run ends (`refused`)
  bool has_reference = false;   ///< decides the hint of the error when every seed is rejected
  std::uint64_t seed = 1;       ///< seed of all random streams
  std::string run = "run";      ///< EvaluationJob::run
  Digest task;                  ///< EvaluationJob::task

  // The archive.
  std::vector<AxisSpec> axes;  ///< if empty, there is one cell, which keeps the best program
  Objectives objectives;       ///< default: fitness alone
  Topology topology = Topology::ring(1).value();
  IslandOptions island;
  /// Returns features for the axes, in addition to the evaluator's. Numbers that are not finite are dropped.
  /// Must be pure, because replay calls it again.
  std::function<std::map<std::string, double>(const Source&, const Evaluation&)> describe;
  /// Programs with the same fingerprint count as the same program. Must be pure. Default: Source::digest.
  std::function<Digest(const Source&)> fingerprint;
  /// Finds a program's knobs; returns nothing if it has none. Must be pure. If this function is set, the
  /// search records the results of knob values for Operator::tune (Selection::knobs).
  std::function<std::optional<KnobSetting>(const Source&)> knobs;

  // The policies. A null pointer stands for the default, which the comment names.
  std::shared_ptr<const Sampler> sampler;      ///< TreeSampler
  std::shared_ptr<const Operators> operators;  ///< always Operator::rewrite
  std::shared_ptr<const Migration> migration;  ///< BestMigration of 1
  double migration_period = 0.1;               ///< share of the progress, in (0, 1]
  unsigned repairs = 0;                        ///< at most this many repair tickets in a row after a rejected
                                               ///< child
  unsigned duels = 2;  ///< at most this many for a pair of programs; then the incumbent stays
  /// The number of tickets of Operator::tune that follow an accepted program whose structure was not tuned
  /// before. Seeds and the tuner's own children get none. These tickets take at most a quarter of the
  /// evaluations.
  unsigned tunings = 0;
  bool confirm = false;  ///< measures the best again at the end
  unsigned kin = 0;      ///< number of the parent's ancestors, and of its children, in a request to a model
  unsigned history = 0;  ///< number of the run's best programs, and of its latest, in such a request
  unsigned idle_iterations = 256;  ///< this many repeats and refusals in a row end the run
  /// A single refusal `exhausted` ends the run. Set it if the proposer then has nothing for any other
  /// request.
  bool ends_when_exhausted = false;

  /// Further settings by name. Each session records them. A `fixed` setting is refused if it differs from the
  /// run's own; a change of another setting is reported to the observer.
  std::map<std::string, std::string> fixed, recorded;
  /// Sets the sampler, the operators, and the options that follow from them, to those that a session recorded
  /// (kPolicySettings). Leaves all other options alone. Called at the beginning of each session, also in a
  /// replay. If null, every session uses the options as given.
  std::function<void(const std::map<std::string, std::string>& settings, EngineOptions& options)>
      take_policies;

  // How it runs.
  bool deterministic = false;  ///< gives the same archive for any number of workers; excludes wall_s
  std::uint64_t pipeline = 8;  ///< if deterministic: ticket t samples the state after commit t - pipeline
  unsigned proposals_in_flight = 4;
  unsigned evaluations_in_flight = 2;
  /// This many Errors in a row with the same code end the session, which can be resumed. `unstable` counts
  /// only when a ticket's retries are used up, because a noisy machine becomes quiet by itself.
  unsigned error_limit = 5;
  /// How often an evaluation or proposal that ends in Errors is tried before its ticket is given back.
  unsigned retries = 3;
  double retry_delay_s = 0.5;  ///< the pause before the first retry; it doubles with each retry
  /// Returns true if this model's proposals that are under way are to be given up when wall_s is used up,
  /// because they cost nothing. If empty, none are given up. Must be pure.
  std::function<bool(const std::string& model)> give_up_at_time;
  std::optional<double> answer_timeout_s;  ///< an answer that takes longer is an Error (`timeout`)

  /// The expected cost of a call in US dollars: its upper limit if that is known; empty if nothing is known.
  /// Used for the first call of each model and operator, if there is a budget of money. Must be pure.
  std::function<std::optional<double>(const ProposalRequest&)> forecast_usd;

  std::shared_ptr<Observer> observer;
  std::function<double()> clock_s;  ///< seconds of a steady clock; default: std::chrono's
};

}  // namespace kernelsmith
