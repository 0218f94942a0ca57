#include "model_support.hpp"

#include <filesystem>
#include <utility>

#include <kernelsmith/proposal/tuner.hpp>
#include <kernelsmith/session/prompt_preview.hpp>

namespace kernelsmith {
namespace {

class WithTuner final : public Proposer {
 public:
  explicit WithTuner(std::shared_ptr<Proposer> model) : model_(std::move(model)), tuner_(make_tuner({})) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    Proposer& proposer = request.op == Operator::tune ? *tuner_ : *model_;
    proposer.start(std::move(request), std::move(stop), std::move(done));
  }

 private:
  std::shared_ptr<Proposer> model_, tuner_;
};

}  // namespace

std::string kept_path(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

void PromptSettings::read(YamlMap& proposer) {
  proposer.optional_map("prompts", [&](YamlMap& map) {
    map.optional("set", set);
    map.optional("folder", folder);
    map.optional("budget_tokens", budget_tokens, {0, 100'000'000});
  });
}

void PromptSettings::write(YamlWriter& proposer) const {
  proposer.map("prompts", [&](YamlWriter& map) {
    map.put("set", set);
    map.put("folder", kept_path(folder));
    map.put("budget_tokens", budget_tokens);
  });
}

PromptOptions PromptSettings::options() const {
  PromptOptions options;
  options.set = set;
  options.folder = folder;
  options.budget_tokens = budget_tokens;
  options.notes = notes;
  return options;
}

Result<PromptBuilder> PromptSettings::builder(const Task& task) const {
  return PromptBuilder::create(task, with_backend(options(), task, backend));
}

std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model) {
  return std::make_shared<WithTuner>(std::move(model));
}

}  // namespace kernelsmith
