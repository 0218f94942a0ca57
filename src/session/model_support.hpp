// Common code of proposers with prompts.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/endpoint.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// A path for run.yaml: absolute, because a run may be resumed from anywhere; an empty one stays empty.
std::string kept_path(const std::string& path);

/// The key `prompts` of proposers with prompts.
struct PromptSettings {
  std::string set = PromptOptions{}.set, folder;
  std::size_t budget_tokens = PromptOptions{}.budget_tokens;

  void list(Section& proposer);
  PromptOptions options(const ProposerContext& context) const;
  Result<PromptBuilder> builder(const Task& task, const ProposerContext& context) const;
};

/// A dry run's checks `server` and `key`, and a check `model` for each of `models`. They cost nothing. Blocks
/// until the server has answered.
std::vector<DryCheck> examine_server(const Endpoint& server, CallLimits limits,
                                     const std::vector<std::string>& models, const std::stop_token& stop);

/// Adds the tuner: it answers requests with Operator::tune, and `model` answers all others. The model writes
/// structure and marks knobs; the tuner varies the knobs.
std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model);

}  // namespace kernelsmith
