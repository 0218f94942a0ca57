// ChatModel: a language model for conversations whose messages the caller keeps.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/model_call.hpp>
#include <kernelsmith/llm/prices.hpp>

namespace kernelsmith {

/// Continues conversations with one model. The contract is Proposer's.
class ChatModel {
 public:
  virtual ~ChatModel() = default;

  /// Gets the model's reply to `messages` and reads it by the chat proposer's rules: a child based on `base`,
  /// a refusal, or a PaidError. A proposal from a reply keeps the complete text and reasoning. Its cost is
  /// the cost of all attempts.
  virtual void start(std::vector<Message> messages, Source base, std::stop_token stop,
                     Sink<Proposal> done) = 0;
};

/// `keep.text` and `keep.bytes` are ignored: complete texts are always kept.
std::shared_ptr<ChatModel> make_chat_model(std::shared_ptr<ModelClient> client, ModelSettings model,
                                           std::optional<Price> price = {}, KeepOptions keep = {});

}  // namespace kernelsmith
