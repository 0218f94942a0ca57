// What a model would be sent, without sending it.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// `options` with what the task's backend knows if it was left empty: the language, the generated header
/// that candidates include, and the hardware of this machine. What a run's proposer and a preview build
/// prompts with.
PromptOptions with_backend(PromptOptions options, const Task& task, const BackendDescription& backend);

/// What a preview makes otherwise than the configuration's own proposer; empty: the same.
struct PromptChanges {
  std::optional<std::string> set, folder;
  std::optional<std::size_t> budget_tokens;
};

/// How the configuration's proposer makes its prompts for a model (empty: the first), or how one with
/// defaults does if it makes none; with `changes`.
PromptOptions prompt_options(const RunConfig& config, const PromptChanges& changes,
                             const std::string& model = {});

/// The prompt that comes next, and the request that it is for.
struct PromptPreview {
  ProposalRequest request;
  Prompt prompt;
  std::size_t budget_tokens = 0;    ///< 0 is no limit
  std::vector<std::string> unused;  ///< templates of the user's that no prompt takes, in words
};

/// The prompt of the next proposal of the run in the folder `path`, as its journal stands. Without `op` the
/// operator is the one that the run draws, or Operator::rewrite if that is tune. Errors: view_run's and
/// PromptBuilder's; `not_found` if `op` needs a program that the run does not have (crossover, repair).
Result<PromptPreview> preview_run_prompt(const std::filesystem::path& path, const PromptChanges& changes,
                                         std::optional<Operator> op, const Registry& registry);

/// A prompt that was sent, made again.
struct RepeatedPrompt {
  PromptPreview preview;
  Digest sent;  ///< as the journal has it

  bool is_the_same() const { return preview.prompt.digest() == sent; }
};

/// The prompt of the ticket of a run, made again of the journal up to where the ticket was opened. It differs
/// from what was sent if the templates, the machine or run.yaml are others than they were. Errors: view_run's
/// and PromptBuilder's; `not_found` for a ticket that the run does not have, or that had no prompt.
Result<RepeatedPrompt> repeat_prompt(const std::filesystem::path& path, TicketId ticket,
                                     const Registry& registry);

/// The first prompt of a run whose seed was evaluated to `seed`; null for a task that has none. `options` are
/// with_backend()'s. Errors: PromptBuilder's.
Result<Prompt> first_prompt(const Task& task, std::uint64_t seed_of_run, const PromptOptions& options,
                            const IndividualPtr& seed);

/// The first prompt of a run of the task: of a seed as its parent, which is evaluated for that (that takes
/// seconds), or of a translation if the task has none. Errors: evaluate_each's and PromptBuilder's.
Result<PromptPreview> preview_task_prompt(const Task& task, const RunConfig& config,
                                          const PromptChanges& changes, std::optional<Operator> op,
                                          const std::stop_token& stop = {});

}  // namespace kernelsmith
