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

void PromptSettings::list(Section& proposer) {
  proposer.map("prompts", [&](Section& io) {
    io("set", set, "which templates (`docs/prompts.md`)");
    io.kept_path("folder", folder, "templates in place of the built-in ones of their names");
    io("budget_tokens", budget_tokens, {0, 100'000'000}, "the most tokens of a prompt; 0: no limit");
  });
}

PromptOptions PromptSettings::options(const ProposerContext& context) const {
  PromptOptions options;
  options.set = set;
  options.folder = folder;
  options.budget_tokens = budget_tokens;
  options.notes = context.notes;
  return options;
}

Result<PromptBuilder> PromptSettings::builder(const Task& task, const ProposerContext& context) const {
  return PromptBuilder::create(task, with_backend(options(context), task, context.backend));
}

std::shared_ptr<Proposer> with_tuner(std::shared_ptr<Proposer> model) {
  return std::make_shared<WithTuner>(std::move(model));
}

}  // namespace kernelsmith
