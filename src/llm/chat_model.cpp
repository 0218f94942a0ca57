#include <limits>
#include <utility>

#include <kernelsmith/llm/chat_model.hpp>
#include <kernelsmith/prompts/tokens.hpp>

#include "chat_call.hpp"

namespace kernelsmith {
namespace {

class ClientChatModel final : public ChatModel {
 public:
  ClientChatModel(std::shared_ptr<ModelClient> client, ModelSettings model, std::optional<Price> price,
                  KeepOptions keep)
      : client_(std::move(client)), model_(std::move(model)), price_(price), keep_(keep) {
    keep_.text = true;
    keep_.bytes = std::numeric_limits<std::size_t>::max();
  }

  void start(std::vector<Message> messages, Source base, std::stop_token stop, Sink<Proposal> done) override {
    llm::Question question{
        .call = llm::call_of(model_, keep_), .blank = std::move(base), .keep = keep_, .price = price_};
    question.request.op = Operator::translate;  // the only operator without a parent
    for (const Message& message : messages) question.prompt.tokens += estimate_tokens(message.text);
    question.call.messages = std::move(messages);
    llm::ask(*client_, std::move(question), std::move(stop),
             [done = std::move(done)](Result<Proposal> proposal) {
               if (proposal) proposal->prompt.reset();
               done(std::move(proposal));
             });
  }

 private:
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
