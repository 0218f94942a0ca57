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

/// The key `prompts` of these proposers.
struct PromptSettings {
  std::string set = PromptOptions{}.set, folder;
  std::size_t budget_tokens = PromptOptions{}.budget_tokens;

  void list(Section& proposer);
  PromptOptions options(const ProposerContext& context) const;
  Result<PromptBuilder> builder(const Task& task, const ProposerContext& context) const;
};

/// A dry run's checks `server`, `key` and `model`, one for each of `models`: none of them costs anything.
/// Blocks until the server has answered.
std::vector<DryCheck> examine_server(const Endpoint& server, CallLimits limits,
                                     const std::vector<std::string>& models, const std::stop_token& stop);

/// The model writes structure and marks knobs, the tuner turns them: Operator::tune is the tuner's,
/// everything else the model's.
std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model);

}  // namespace kernelsmith
