// What the proposers that show somebody a prompt have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// A path as run.yaml keeps it, because a run is resumed from anywhere; an empty one stays empty.
std::string kept_path(const std::string& path);

/// The key `prompts` of such a proposer.
struct PromptSettings {
  std::string set = PromptOptions{}.set, folder;
  std::size_t budget_tokens = PromptOptions{}.budget_tokens;

  void read(YamlMap& proposer);
  void write(YamlWriter& proposer) const;
  PromptOptions options() const;
  Result<PromptBuilder> builder(const Task& task) const;

  BackendDescription backend;     ///< ProposerProvider::describe_backend
  std::vector<PromptNote> notes;  ///< ProposerProvider::show_notes
};

/// The model writes structure and marks knobs, the tuner turns them: Operator::tune is the tuner's,
/// everything else the model's.
std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model);

}  // namespace kernelsmith
