// Common code of proposers with prompts.
#pragma once

#include <memory>
#include <string>

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

/// The model writes structure and marks knobs, the tuner varies them: Operator::tune is the tuner's,
/// everything else the model's.
std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model);

}  // namespace kernelsmith
