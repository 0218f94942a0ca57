// The chat proposer: a prompt, a call, and the child that the reply describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/prices.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// What is kept of replies for training (Proposal::reply), with their prompts. By default nothing is. A
/// value.
struct KeepOptions {
  bool text = false;
  bool logprobs = false;
  bool token_ids = false;
  std::size_t bytes = std::size_t{1} << 20;  ///< of one reply, its text first; the rest is cut off

  bool any() const { return text || logprobs || token_ids; }
};

/// What is kept of a reply to a prompt that was asked for with `sampling`. Pure.
KeptReply kept_of(const ModelReply& reply, const Prompt& prompt, Sampling sampling, std::size_t bytes);

/// How one model is asked. A value.
struct ModelSettings {
  std::string name;
  std::optional<std::uint64_t> max_output_tokens = std::nullopt;
  std::optional<double> temperature = std::nullopt;
  std::optional<double> top_p = std::nullopt;
  std::string reasoning_effort = {};
  bool stream = true;
  std::string extra_body = {};  ///< as ModelCall's
};

/// A Proposer that asks language models. A request that names no model goes to the first one.
///
/// Every reply is one of: a child; or a refusal, `declined` if the model refused, `empty_reply`,
/// `truncated` if a limit of tokens cut it off, and extract()'s. A reply that is_only_reasoning() is read
/// there: the program that it holds is the child, else it is an `empty_reply`. Its cost is counted in each
/// case, with that of attempts that failed before it. If no prompt can be built or the client gives up,
/// the answer is that Error, a PaidError if attempts were billed or may have been, and no reply was used.
///
/// `invalid_argument` if `models` is empty or names one twice. A request for another model is answered
/// `invalid_argument`.
Result<std::shared_ptr<Proposer>> make_chat_proposer(std::shared_ptr<ModelClient> client,
                                                     PromptBuilder prompts, std::vector<ModelSettings> models,
                                                     PriceTable prices = {}, KeepOptions keep = {});

/// What a reply proposes, for a request and the prompt that was sent for it, with the tokens that the reply
/// counts. Without a parent it is laid into `blank` (PromptBuilder::blank_candidate). Pure.
Proposal proposal_from(const ModelReply& reply, const ProposalRequest& request, const Prompt& prompt,
                       const Source& blank);

}  // namespace kernelsmith
