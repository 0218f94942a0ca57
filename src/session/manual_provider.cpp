// The proposer `manual` of run.yaml: a folder of requests and replies.
#include <kernelsmith/llm/manual_proposer.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

class ManualProvider final : public ProposerProvider {
 public:
  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    std::error_code ignored;
    if (std::filesystem::exists(folder_, ignored) && !std::filesystem::is_directory(folder_, ignored))
      return fail(ErrorCode::invalid_argument, "this is not a folder", folder_,
                  "--manual names a folder; it is made if there is none");
    auto prompts = prompts_.builder(task, context);
    if (!prompts) return prompts.error();
    ManualOptions options;
    options.folder = folder_;
    auto proposer = make_manual_proposer(std::move(*prompts), task, std::move(options));
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  ProposerTraits traits() const override {
    return {.operators = {{Operator::rewrite, ""}, {Operator::edit, ""}, {Operator::crossover, ""}},
            .in_flight = open_requests_};
  }

  ProposerOutlook outlook() const override {
    return {.models = {{.name = "", .prompts = prompts_.options(context), .may_be_given_up = true}},
            .destination =
                "requests lie in " + kept_path(folder_) + " and wait for replies beside them (docs/llm.md)"};
  }

  Result<CallPlanner> planner(const Task& task) const override {
    auto prompts = prompts_.builder(task, context);
    if (!prompts) return prompts.error();
    return CallPlanner(
        [prompts = std::move(*prompts)](const ProposalRequest& request) -> std::optional<PlannedCall> {
          if (request.op == Operator::tune) return std::nullopt;
          const auto prompt = prompts.build(request);
          if (!prompt) return std::nullopt;
          return PlannedCall{prompt->digest(), std::nullopt};
        });
  }

 private:
  void list(Section& io) override {
    io.needed_path("folder", folder_, "where requests and replies lie");
    io("open_requests", open_requests_, {1, 1000}, "requests that wait for a reply at a time");
    prompts_.list(io);
  }

  std::string folder_;
  unsigned open_requests_ = 1;  // requests in advance would show an archive without the previous answer
  PromptSettings prompts_;
};

}  // namespace

std::unique_ptr<ProposerProvider> manual_provider() { return std::make_unique<ManualProvider>(); }

}  // namespace kernelsmith
