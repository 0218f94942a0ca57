// Checks a run before it begins and estimates its cost, without a paid call.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/engine/options.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

namespace kernelsmith {

/// The terms of calls to one model, and their share of all calls.
struct CallEstimate {
  CallTerms terms;
  double share = 1;
  std::uint64_t prompt_tokens = 0;  ///< tokens of the first prompt
  std::uint64_t reply_tokens = 0;   ///< estimated for a reply as long as the program that it changes

  /// The cost of such a call in US dollars; empty without a price.
  std::optional<double> usd() const;
  /// The highest possible cost of a call; empty if unknown.
  std::optional<double> most_usd() const;
};

/// The possible cost of a run. The number of calls is known only if the run has a budget of iterations.
struct RunEstimate {
  std::vector<CallEstimate> models;
  std::optional<std::uint64_t> calls;       ///< one for each iteration that asks a model
  std::optional<std::uint64_t> most_calls;  ///< number of calls if every child is repaired as often as
                                            ///< allowed
  std::optional<double> usd;                ///< cost of `calls`; the budget if that is less
  std::optional<double> most_usd;           ///< highest cost of `most_calls`; the budget if that is less
  std::optional<double> affordable_calls;   ///< calls that the budget of money covers
};

/// Estimates the cost. `models` are in the order of the configuration; the first serves operators that name
/// no model. Pure.
RunEstimate estimate_run(const RunConfig& config, std::vector<CallEstimate> models);

/// The findings of a dry run, and the estimated cost.
struct DryRun {
  std::vector<DryCheck> checks;
  RunEstimate estimate;  ///< without models if the proposer uses none

  /// The first check that failed; null if none did.
  const Error* error() const;
};

/// Checks the configuration, makes the proposer (with its key and server) and the evaluator, and scores the
/// seed if there is one. Takes seconds. All checks are made, even after one has failed.
DryRun dry_run(const TaskFolder& task, RunConfig config, const std::stop_token& stop = {});

}  // namespace kernelsmith
