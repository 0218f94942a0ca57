// Shows the prompt for a model without sending it.
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

/// Fills in empty members of `options` from the task's backend: the language, the generated header that
/// candidates include, and the hardware of this machine. A run's proposer and a preview build prompts with
/// the result.
PromptOptions with_backend(PromptOptions options, const Task& task, const BackendDescription& backend);

/// What a preview changes in the options of the configuration's proposer. Empty members change nothing.
struct PromptChanges {
  std::optional<std::string> set, folder;
  std::optional<std::size_t> budget_tokens;
};

/// The options of the proposer's prompts for a model, with `changes`. An empty `model` is the first one. If
/// the proposer makes no prompts, the defaults are used.
PromptOptions prompt_options(const RunConfig& config, const PromptChanges& changes,
                             const std::string& model = {});

/// The next prompt and its request.
struct PromptPreview {
  ProposalRequest request;
  Prompt prompt;
  std::size_t budget_tokens = 0;    ///< 0 is no limit
  std::vector<std::string> unused;  ///< descriptions of the user's templates that are not used
};

/// The prompt of the next proposal of the run in the folder `path`. Without `op`, the run draws the operator;
/// Operator::rewrite replaces tune. Errors: view_run's and PromptBuilder's; `not_found` if `op` needs a
/// program that the run does not have (crossover, repair).
Result<PromptPreview> preview_run_prompt(const std::filesystem::path& path, const PromptChanges& changes,
                                         std::optional<Operator> op, const Registry& registry);

/// A prompt that was sent, built again.
struct RepeatedPrompt {
  PromptPreview preview;
  Digest sent;  ///< the digest in the journal

  bool is_the_same() const { return preview.prompt.digest() == sent; }
};

/// Builds the prompt of a run's ticket again, from the journal up to the opening of the ticket. It differs
/// from the prompt that was sent if the templates, the machine or run.yaml have changed. Errors: view_run's
/// and PromptBuilder's; `not_found` for a ticket that the run does not have, or that had no prompt.
Result<RepeatedPrompt> repeat_prompt(const std::filesystem::path& path, TicketId ticket,
                                     const Registry& registry);

/// The first prompt of a run whose seed's evaluation is `seed`; null for a task without a seed. `options` are
/// with_backend()'s. Errors: PromptBuilder's.
Result<Prompt> first_prompt(const Task& task, std::uint64_t seed_of_run, const PromptOptions& options,
                            const IndividualPtr& seed);

/// The first prompt of a run of the task. The seed is evaluated (this takes seconds) and is the parent. If
/// the task has no seed, the prompt asks for a translation. Errors: evaluate_all's and PromptBuilder's.
Result<PromptPreview> preview_task_prompt(const Task& task, const RunConfig& config,
                                          const PromptChanges& changes, std::optional<Operator> op,
                                          const std::stop_token& stop = {});

}  // namespace kernelsmith
