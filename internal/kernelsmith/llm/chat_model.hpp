// ChatModel: a language model in a conversation whose messages the caller keeps.
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

  /// The model's reply to `messages`, read by the chat proposer's rules: a child that is laid into `base`, or
  /// a refusal, or a PaidError. A proposal that came of a reply keeps its text and reasoning, whole. Its cost
  /// is that of all attempts.
  virtual void start(std::vector<Message> messages, Source base, std::stop_token stop,
                     Sink<Proposal> done) = 0;
};

/// `keep.text` and `keep.bytes` are ignored: texts are always kept, and whole.
std::shared_ptr<ChatModel> make_chat_model(std::shared_ptr<ModelClient> client, ModelSettings model,
                                           std::optional<Price> price = {}, KeepOptions keep = {});

}  // namespace kernelsmith
