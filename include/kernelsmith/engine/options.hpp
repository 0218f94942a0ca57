// EngineOptions: everything that an engine needs to know before it starts. All of it has defaults but the
// budgets.
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

/// The run's totals, over all its sessions. An absent limit does not bind; at least one must be set.
struct Budgets {
  std::optional<std::uint64_t> iterations;   ///< tickets that asked for a child and were told
  std::optional<std::uint64_t> evaluations;  ///< seeds, repairs and re-measurements included
  /// After it nothing new is begun, and what has no use any more is given up: evaluations of the tuner's
  /// children and duels. Answers of models are waited for and evaluated. What measuring the best again takes
  /// (confirm) comes on top.
  std::optional<double> wall_s;
  /// US dollars that calls to models cost. A call is begun if what is left covers it and those under way,
  /// each taken to cost what the dearest one of its model and operator did, and if that has not answered
  /// yet what EngineOptions::forecast_usd says at the least; before a model's first answer one is under way.
  std::optional<double> usd = std::nullopt;
  /// The run ends (EndReason::flat) when what is left of the budgets of evaluations and iterations, or as
  /// many evaluations as were made if neither is limited, is expected to raise the best's fitness by less
  /// than so many percent (SearchState::expected_gain).
  std::optional<double> until_flat = std::nullopt;

  friend bool operator==(const Budgets&, const Budgets&) = default;
};

/// In EngineOptions::recorded: the policies that may be others in another session of a run.
inline constexpr std::array<const char*, 2> kPolicySettings{"sampler", "operators"};

/// Everything that a search is opened with, but for its seams.
struct EngineOptions {
  // What is searched, and how far.
  Budgets budgets;
  std::vector<Source>
      seeds;  ///< evaluated first; a seed joins every island. Empty: Operator::translate begins
  bool seeds_must_pass = true;  ///< if every seed is rejected the run ends (`refused`)
  bool has_reference = false;   ///< to begin from without a seed: what the error of such a run suggests
  std::uint64_t seed = 1;       ///< of all random streams
  std::string run = "run";      ///< EvaluationJob::run
  Digest task;                  ///< EvaluationJob::task

  // The archive.
  std::vector<AxisSpec> axes;  ///< none: one cell, the best program
  Objectives objectives;       ///< what is searched for; default: the fitness alone
  Topology topology = Topology::ring(1).value();
  IslandOptions island;
  /// Names what the axes read beyond the evaluator's own features; a number that is not finite is left out.
  /// Pure: replay calls it again.
  std::function<std::map<std::string, double>(const Source&, const Evaluation&)> describe;
  /// Programs of one fingerprint are one program. Pure. Default: Source::digest.
  std::function<Digest(const Source&)> fingerprint;
  /// A program's knobs; empty if it has none. Pure. With it the search remembers what became of their values,
  /// and tells Operator::tune (Selection::knobs).
  std::function<std::optional<KnobSetting>(const Source&)> knobs;

  // The policies; null is the default.
  std::shared_ptr<const Sampler> sampler;      ///< TreeSampler
  std::shared_ptr<const Operators> operators;  ///< always Operator::rewrite
  std::shared_ptr<const Migration> migration;  ///< BestMigration of 1
  double migration_period = 0.1;               ///< in progress, in (0, 1]
  unsigned repairs = 0;                        ///< repair tickets in a row that follow a rejected child
  unsigned duels = 2;                          ///< for one pair of programs; then the incumbent stays
  /// Tickets of Operator::tune that follow an accepted program of a structure that was not tuned before, if
  /// it is neither a seed nor the tuner's own. They take a quarter of the evaluations at the most.
  unsigned tunings = 0;
  bool confirm = false;  ///< measure the best again at the end
  unsigned kin = 0;      ///< ancestors, and children, of the parent that a request to a model brings along
  unsigned history = 0;  ///< of the run's best programs, and of its latest, that it brings along
  unsigned idle_iterations = 256;  ///< repeats and refusals in a row that end the run
  /// The proposer's refusal `exhausted` ends the run by itself: whatever is asked, it has nothing else.
  bool ends_when_exhausted = false;

  /// Further settings by name, recorded with each session: `fixed` ones are refused if they differ from
  /// the run's own, a change of the others is reported to the observer.
  std::map<std::string, std::string> fixed, recorded;
  /// Sets the sampler, the operators and what follows from them to those that a session recorded
  /// (kPolicySettings); what it leaves are these options' own. Called as each session begins, in replay too.
  /// Null: these options' own hold in every session.
  std::function<void(const std::map<std::string, std::string>& settings, EngineOptions& options)>
      take_policies;

  // How it runs.
  bool deterministic = false;  ///< the same archive with any number of workers; takes no wall_s
  std::uint64_t pipeline = 8;  ///< deterministic: ticket t samples the state behind commit t - pipeline
  unsigned proposals_in_flight = 4;
  unsigned evaluations_in_flight = 2;
  /// Errors in a row with one code that end the session, resumable. `unstable` counts once a ticket's retries
  /// are used up: a noisy machine comes to rest by itself.
  unsigned error_limit = 5;
  unsigned retries = 3;  ///< of one evaluation or proposal that ended in an Error, before it is given back
  double retry_delay_s = 0.5;  ///< before the first retry; doubles with each
  /// Whether proposals under way of that model are given up when wall_s is used up, because nobody paid for
  /// them; empty: no. Pure.
  std::function<bool(const std::string& model)> give_up_at_time;
  std::optional<double> answer_timeout_s;  ///< an answer that takes longer is lost: an Error (`timeout`)

  /// What to expect of a call for the request in US dollars: the most that it can cost, if that is known;
  /// empty if nobody knows. Asked for the first call of each model and operator, if there is a budget
  /// of money. Pure.
  std::function<std::optional<double>(const ProposalRequest&)> forecast_usd;

  std::shared_ptr<Observer> observer;
  std::function<double()> clock_s;  ///< seconds on any steady scale; default: the steady clock
};

}  // namespace kernelsmith
