// A run as it would begin, checked and estimated without a call that costs anything.
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

/// What calls to one model are made of, and their share of all calls.
struct CallEstimate {
  CallTerms terms;
  double share = 1;
  std::uint64_t prompt_tokens = 0;  ///< of the first prompt
  std::uint64_t reply_tokens = 0;   ///< of a reply as long as the program that it changes

  /// US dollars of such a call; empty without a price.
  std::optional<double> usd() const;
  /// The most that a call can cost; empty if that is not known.
  std::optional<double> most_usd() const;
};

/// What a run may cost. The number of calls is known only if iterations are limited.
struct RunEstimate {
  std::vector<CallEstimate> models;
  std::optional<std::uint64_t> calls;       ///< one for each iteration that asks a model
  std::optional<std::uint64_t> most_calls;  ///< with every child to be repaired as often as it may be
  std::optional<double> usd;                ///< of `calls`, or of the budget if that is less
  std::optional<double> most_usd;           ///< of `most_calls`, or the budget
  std::optional<double> affordable_calls;   ///< that the budget of money pays for
};

/// Pure. `models` in the order of the configuration: the first serves operators that name none.
RunEstimate estimate_run(const RunConfig& config, std::vector<CallEstimate> models);

/// What a dry run found, and what the run would cost.
struct DryRun {
  std::vector<DryCheck> checks;
  RunEstimate estimate;  ///< without models if the proposer asks none

  /// The first check that failed; null if none did.
  const Error* error() const;
};

/// Checks the configuration, makes the proposer (with its key and server) and the evaluator, and has the
/// evaluator score the seed, if there is one. Takes seconds. Every check is made, whatever failed before.
DryRun dry_run(const TaskFolder& task, RunConfig config, const std::stop_token& stop = {});

}  // namespace kernelsmith
