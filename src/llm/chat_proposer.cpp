#include <algorithm>
#include <set>
#include <utility>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "chat_call.hpp"

namespace kernelsmith {
namespace {

using llm::beginning_of;
using llm::kNameBytes;

constexpr std::size_t kDetailBytes = 4096;

/// The refusal if the reply has no usable text; empty if its text or reasoning must be read.
std::optional<Refusal> refusal_of(const ModelReply& reply) {
  if (reply.finish == Finish::declined)
    return Refusal{RefusalCode::declined, beginning_of(reply.finish_detail, kDetailBytes)};
  if (!reply.text.empty() || is_only_reasoning(reply)) return std::nullopt;
  if (reply.finish == Finish::length)
    return Refusal{
        RefusalCode::truncated,
        std::string("the limit of output tokens was reached ") +
            (reply.reasoning.empty() ? "before the first word"
                                     : "within the reasoning (reasoning_content), before any text")};
  return Refusal{
      RefusalCode::empty_reply,
      "the reply ended with \"" + beginning_of(reply.finish_detail, kNameBytes) + "\" and no text"};
}

/// The refusal of a reply without text whose reasoning has no program either.
Refusal refusal_of_reasoning(const Refusal& why) {
  return {
      RefusalCode::empty_reply,
      "the reply has no text, only reasoning (reasoning_content), and no program can be taken from that: " +
          std::string(name_of(why.code)) + ": " + why.detail};
}

/// Counts the bytes that may still be kept. Once an item does not fit, no later item is kept.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes) : left_(bytes) {}

  bool take(std::size_t bytes) {
    exceeded_ = exceeded_ || bytes > left_;
    if (!exceeded_) left_ -= bytes;
    return !exceeded_;
  }

  std::string beginning_of(const std::string& text) {
    if (take(text.size())) return text;
    return llm::beginning_of(text, std::exchange(left_, 0));
  }

  std::vector<std::uint64_t> beginning_of(const std::vector<std::uint64_t>& ids) {
    std::vector<std::uint64_t> kept;
    for (const std::uint64_t id : ids) {
      if (!take(sizeof id)) break;
      kept.push_back(id);
    }
    return kept;
  }

  bool exceeded() const { return exceeded_; }

 private:
  std::size_t left_;
  bool exceeded_ = false;
};

class ChatProposer final : public Proposer {
 public:
  ChatProposer(std::shared_ptr<ModelClient> client, PromptBuilder prompts, std::vector<ModelSettings> models,
               PriceTable prices, KeepOptions keep)
      : blank_(prompts.blank_candidate()),
        models_(std::move(models)),
        prices_(std::move(prices)),
        keep_(keep),
        prompts_(std::move(prompts)),
        client_(std::move(client)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const ModelSettings* model = find(request.model);
    if (!model)
      return done(fail(ErrorCode::invalid_argument, "no model \"" + request.model + "\" is configured",
                       "proposer.models"));
    auto prompt = prompts_.build(request);
    if (!prompt) return done(prompt.error());
    ModelCall call = llm::call_of(*model, keep_);
    if (!prompt->system.empty()) call.messages.push_back({Role::system, prompt->system});
    call.messages.push_back({Role::user, prompt->user});
    llm::ask(*client_,
             {std::move(call), std::move(request), std::move(*prompt), blank_, keep_,
              prices_.price_of(model->name)},
             std::move(stop), std::move(done));
  }

 private:
  const ModelSettings* find(const std::string& name) const {
    if (name.empty()) return &models_.front();
    const auto found = std::ranges::find(models_, name, &ModelSettings::name);
    return found == models_.end() ? nullptr : &*found;
  }

  const Source blank_;  ///< PromptBuilder::blank_candidate()
  const std::vector<ModelSettings> models_;
  const PriceTable prices_;
  const KeepOptions keep_;
  const PromptBuilder prompts_;
  const std::shared_ptr<ModelClient> client_;
};

}  // namespace

KeptReply kept_of(const ModelReply& reply, const Prompt& prompt, Sampling sampling, std::size_t bytes) {
  ByteBudget budget(bytes);
  KeptReply kept{.model = beginning_of(reply.model, kNameBytes), .text = budget.beginning_of(reply.text)};
  kept.reasoning = budget.beginning_of(reply.reasoning);
  kept.user = budget.beginning_of(prompt.user);
  kept.system = budget.beginning_of(prompt.system);
  kept.template_digest = prompt.templates;
  kept.sampling = std::move(sampling);
  kept.sampling.finish_reason = name_of(reply.finish);
  for (std::size_t i = 0; i < reply.trace.tokens.size(); ++i) {
    if (!budget.take(reply.trace.tokens[i].size() + sizeof(double))) break;
    kept.tokens.push_back(reply.trace.tokens[i]);
    kept.logprobs.push_back(reply.trace.logprobs[i]);
  }
  kept.token_ids = budget.beginning_of(reply.trace.token_ids);
  kept.prompt_token_ids = budget.beginning_of(reply.trace.prompt_token_ids);
  kept.cut = budget.exceeded();
  return kept;
}

Proposal proposal_from(const ModelReply& reply, const ProposalRequest& request, const Prompt& prompt,
                       const Source& blank) {
  Proposal proposal;
  if (auto refusal = refusal_of(reply)) {
    proposal.outcome = std::move(*refusal);
  } else {
    const IndividualPtr& parent = request.selection.parent;
    const Source base = parent ? parent->program->source : blank;
    const bool reasoned = is_only_reasoning(reply);
    auto outcome = extract(reasoned ? reply.reasoning : reply.text, base, ReplyForm::either,
                           reply.finish == Finish::length);
    if (auto* child = std::get_if<Source>(&outcome))
      proposal = as_proposal(request, std::move(*child)).value();
    else if (reasoned)
      proposal.outcome = refusal_of_reasoning(std::get<Refusal>(outcome));
    else
      proposal.outcome = std::get<Refusal>(std::move(outcome));
  }
  if (reply.usage) llm::add_tokens(*reply.usage, proposal.cost);
  proposal.prompt = prompt.digest();
  return proposal;
}

Result<std::shared_ptr<Proposer>> make_chat_proposer(std::shared_ptr<ModelClient> client,
                                                     PromptBuilder prompts, std::vector<ModelSettings> models,
                                                     PriceTable prices, KeepOptions keep) {
  if (models.empty())
    return fail(ErrorCode::invalid_argument, "no model is named", "proposer.models",
                "kernelsmith run TASK --model NAME");
  std::set<std::string> names;
  for (const ModelSettings& model : models)
    if (!names.insert(model.name).second)
      return fail(ErrorCode::invalid_argument, "the model \"" + model.name + "\" is named twice",
                  "proposer.models");
  return std::shared_ptr<Proposer>(std::make_shared<ChatProposer>(
      std::move(client), std::move(prompts), std::move(models), std::move(prices), keep));
}

}  // namespace kernelsmith
