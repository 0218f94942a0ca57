#include <limits>
#include <utility>

#include <kernelsmith/llm/chat_model.hpp>
#include <kernelsmith/prompts/tokens.hpp>

#include "chat_call.hpp"

namespace kernelsmith {
namespace {

/// One call in flight. Used on the client's thread.
struct PendingTurn {
  Source base;
  Sampling sampling;
  std::uint64_t prompt_tokens = 0;
  llm::Bill bill;

  Result<Proposal> answer(const Result<ModelReply>& reply) {
    if (!reply && bill.empty()) return reply.error();
    if (!reply) return Proposal{PaidError(reply.error()), bill.cost(), std::nullopt};
    bill.add(*reply, prompt_tokens);
    ProposalRequest request;
    request.op = Operator::translate;  // the only operator without a parent
    Proposal proposal = proposal_from(*reply, request, Prompt{}, base);
    proposal.prompt.reset();
    proposal.cost = bill.cost();
    proposal.reply = kept_of(*reply, Prompt{}, sampling, std::numeric_limits<std::size_t>::max());
    return proposal;
  }
};

class ClientChatModel final : public ChatModel {
 public:
  ClientChatModel(std::shared_ptr<ModelClient> client, ModelSettings model, std::optional<Price> price,
                  KeepOptions keep)
      : client_(std::move(client)), model_(std::move(model)), price_(price), keep_(keep) {}

  void start(std::vector<Message> messages, Source base, std::stop_token stop, Sink<Proposal> done) override {
    ModelCall call = llm::call_of(model_, keep_);
    const auto pending = std::make_shared<PendingTurn>(PendingTurn{
        std::move(base), llm::sampling_of(call), tokens_of(messages), llm::Bill(model_.name, price_)});
    call.messages = std::move(messages);
    client_->start(
        std::move(call), std::move(stop),
        [pending, done = std::move(done)](const Result<ModelReply>& reply) { done(pending->answer(reply)); },
        [pending](const LostCall& lost) { pending->bill.add(lost, pending->prompt_tokens); });
  }

 private:
  static std::uint64_t tokens_of(const std::vector<Message>& messages) {
    std::uint64_t tokens = 0;
    for (const Message& message : messages) tokens += estimate_tokens(message.text);
    return tokens;
  }

  std::shared_ptr<ModelClient> client_;
  ModelSettings model_;
  std::optional<Price> price_;
  KeepOptions keep_;
};

}  // namespace

std::shared_ptr<ChatModel> make_chat_model(std::shared_ptr<ModelClient> client, ModelSettings model,
                                           std::optional<Price> price, KeepOptions keep) {
  return std::make_shared<ClientChatModel>(std::move(client), std::move(model), price, keep);
}

}  // namespace kernelsmith
