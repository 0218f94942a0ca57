// Makes the turns of one trajectory.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/suite/stts.hpp>

#include "stts_journal.hpp"

namespace kernelsmith::suite {

/// The tools for all trajectories of a task. Safe to share between threads.
struct SttsTools {
  Task task;
  std::uint64_t seed = 1;  ///< the seed of the configuration
  PromptOptions prompt_options;
  PromptBuilder prompts;
  std::shared_ptr<Evaluator> evaluator;
  std::shared_ptr<ChatModel> model;
};

/// Called after each turn, with its number from 1.
using TurnSink = std::function<void(std::size_t number, const SttsTurn& turn)>;

/// Adds turns to the journal until it has plan.turns turns. Errors: the model's, the evaluator's (the turn is
/// then not recorded), the journal's, and `cancelled`.
Status complete(SttsJournal& journal, const SttsPlan& plan, const SttsTools& tools, const TurnSink& sink,
                const std::stop_token& stop);

/// The result of the last turn. Its `best_by_round` holds the speedup of each turn.
TaskResult last_result(const SttsTrajectory& trajectory);

/// The result of the turn with the largest speedup.
TaskResult best_result(const SttsTrajectory& trajectory);

}  // namespace kernelsmith::suite
