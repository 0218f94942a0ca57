// The proposer `manual` of run.yaml: a folder of requests and replies.
#include <kernelsmith/llm/manual_proposer.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

class ManualProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    if (folder_.empty())
      in.required("folder", folder_);
    else
      in.optional("folder", folder_);
    if (in.ok() && folder_.empty()) in.refuse("folder", "no folder is named");
    in.optional("open_requests", open_requests_, {1, 1000});
    prompts_.read(in);
  }

  void write(YamlWriter& out) const override {
    out.put("folder", kept_path(folder_));
    out.put("open_requests", open_requests_);
    prompts_.write(out);
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    std::error_code ignored;
    if (std::filesystem::exists(folder_, ignored) && !std::filesystem::is_directory(folder_, ignored))
      return fail(ErrorCode::invalid_argument, "this is no folder", folder_,
                  "--manual names a folder; it is made if there is none");
    auto prompts = prompts_.builder(task);
    if (!prompts) return prompts.error();
    ManualOptions options;
    options.folder = folder_;
    auto proposer = make_manual_proposer(std::move(*prompts), task, std::move(options));
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  std::string destination() const override {
    return "requests lie in " + kept_path(folder_) + " and wait for replies beside them (docs/llm.md)";
  }

  bool may_be_given_up(const std::string&) const override { return true; }

  Result<CallPlanner> planner(const Task& task) const override {
    auto prompts = prompts_.builder(task);
    if (!prompts) return prompts.error();
    return CallPlanner(
        [prompts = std::move(*prompts)](const ProposalRequest& request) -> std::optional<PlannedCall> {
          if (request.op == Operator::tune) return std::nullopt;
          const auto prompt = prompts.build(request);
          if (!prompt) return std::nullopt;
          return PlannedCall{prompt->digest(), std::nullopt};
        });
  }

  std::vector<OperatorChoice> operators() const override {
    return {{Operator::rewrite, ""}, {Operator::edit, ""}, {Operator::crossover, ""}};
  }

  void describe_backend(const BackendDescription& backend) override { prompts_.backend = backend; }
  void show_notes(const std::vector<PromptNote>& notes) override { prompts_.notes = notes; }

  std::optional<PromptOptions> prompts(const std::string&) const override { return prompts_.options(); }

  std::optional<unsigned> proposals_in_flight() const override {
    return static_cast<unsigned>(open_requests_);
  }

 private:
  std::string folder_;
  std::size_t open_requests_ = 1;  // what is asked ahead shows an archive without the answer before it
  PromptSettings prompts_;
};

}  // namespace

std::unique_ptr<ProposerProvider> manual_provider() { return std::make_unique<ManualProvider>(); }

}  // namespace kernelsmith
