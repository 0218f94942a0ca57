#include <algorithm>
#include <set>
#include <utility>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/proposal/extract.hpp>

namespace kernelsmith {
namespace {

Cost cost_from(const ModelReply& reply, const std::optional<Price>& price) {
  if (!reply.usage) return {};
  Cost cost;
  cost.input_tokens = reply.usage->input_tokens;
  cost.output_tokens = reply.usage->output_tokens;
  if (reply.usage->cached_tokens > 0) cost.cached_tokens = reply.usage->cached_tokens;
  if (reply.usage->reasoning_tokens > 0) cost.reasoning_tokens = reply.usage->reasoning_tokens;
  if (price) cost.usd = cost_of(*reply.usage, *price);
  return cost;
}

/// Of the reply as a whole; empty where its text is to be read.
std::optional<Refusal> refusal_of(const ModelReply& reply) {
  if (reply.finish == Finish::declined) return Refusal{RefusalCode::declined, reply.finish_detail};
  if (!reply.text.empty()) return std::nullopt;
  if (reply.finish == Finish::length)
    return Refusal{RefusalCode::truncated, "the limit of output tokens was reached before the first word"};
  return Refusal{RefusalCode::empty_reply,
                 "the reply ended with \"" + reply.finish_detail + "\" and no text"};
}

class ChatProposer final : public Proposer {
 public:
  ChatProposer(std::shared_ptr<ModelClient> client, PromptBuilder prompts, const Task& task,
               std::vector<ModelSettings> models, PriceTable prices)
      : shared_(std::make_shared<const Shared>(Shared{task, std::move(models), std::move(prices)})),
        prompts_(std::move(prompts)),
        client_(std::move(client)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const ModelSettings* model = shared_->find(request.model);
    if (!model)
      return done(fail(ErrorCode::invalid_argument, "no model \"" + request.model + "\" is configured",
                       "proposer.models"));
    auto prompt = prompts_.build(request);
    if (!prompt) return done(prompt.error());
    ModelCall call = call_of(*model, *prompt);
    client_->start(
        std::move(call), std::move(stop),
        [shared = shared_, model, request = std::move(request), prompt = std::move(*prompt),
         done = std::move(done)](const Result<ModelReply>& reply) {
          if (!reply) return done(reply.error());
          done(proposal_from(*reply, request, prompt, shared->task, shared->prices.price_of(model->name)));
        });
  }

 private:
  /// Outlives the proposer while calls are in flight.
  struct Shared {
    Task task;
    std::vector<ModelSettings> models;
    PriceTable prices;

    const ModelSettings* find(const std::string& name) const {
      if (name.empty()) return &models.front();
      const auto found = std::ranges::find(models, name, &ModelSettings::name);
      return found == models.end() ? nullptr : &*found;
    }
  };

  static ModelCall call_of(const ModelSettings& model, const Prompt& prompt) {
    ModelCall call;
    call.model = model.name;
    if (!prompt.system.empty()) call.messages.push_back({Role::system, prompt.system});
    call.messages.push_back({Role::user, prompt.user});
    call.max_output_tokens = model.max_output_tokens;
    call.temperature = model.temperature;
    call.top_p = model.top_p;
    call.reasoning_effort = model.reasoning_effort;
    call.stream = model.stream;
    call.extra_body = model.extra_body;
    return call;
  }

  std::shared_ptr<const Shared> shared_;
  PromptBuilder prompts_;
  std::shared_ptr<ModelClient> client_;
};

}  // namespace

Proposal proposal_from(const ModelReply& reply, const ProposalRequest& request, const Prompt& prompt,
                       const Task& task, const std::optional<Price>& price) {
  Proposal proposal;
  if (auto refusal = refusal_of(reply)) {
    proposal.outcome = std::move(*refusal);
  } else {
    const IndividualPtr& parent = request.selection.parent;
    const Source base = parent ? parent->program->source : blank_candidate(task);
    auto outcome = extract(reply.text, base, ReplyForm::either, reply.finish == Finish::length);
    if (auto* child = std::get_if<Source>(&outcome))
      proposal = as_proposal(request, std::move(*child)).value();
    else
      proposal.outcome = std::get<Refusal>(std::move(outcome));
  }
  proposal.cost = cost_from(reply, price);
  proposal.prompt = prompt.digest();
  return proposal;
}

Result<std::shared_ptr<Proposer>> make_chat_proposer(std::shared_ptr<ModelClient> client,
                                                     PromptBuilder prompts, const Task& task,
                                                     std::vector<ModelSettings> models, PriceTable prices) {
  if (models.empty())
    return fail(ErrorCode::invalid_argument, "no model is named", "proposer.models",
                "kernelsmith run TASK --model NAME");
  std::set<std::string> names;
  for (const ModelSettings& model : models)
    if (!names.insert(model.name).second)
      return fail(ErrorCode::invalid_argument, "the model \"" + model.name + "\" is named twice",
                  "proposer.models");
  return std::shared_ptr<Proposer>(std::make_shared<ChatProposer>(std::move(client), std::move(prompts), task,
                                                                  std::move(models), std::move(prices)));
}

}  // namespace kernelsmith
