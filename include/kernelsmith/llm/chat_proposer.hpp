// The chat proposer: builds a prompt, calls a model, and makes a child from its reply.
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

/// Which parts of replies and prompts are kept for training (Proposal::reply). Default: none. A value.
struct KeepOptions {
  bool text = false;
  bool logprobs = false;
  bool token_ids = false;
  std::size_t bytes = std::size_t{1} << 20;  ///< limit for one reply; its text is kept first, and what
                                             ///< exceeds the limit is cut off

  bool any() const { return text || logprobs || token_ids; }
};

/// The part of a reply that is kept. Its prompt was sent with `sampling`. Pure.
KeptReply kept_of(const ModelReply& reply, const Prompt& prompt, Sampling sampling, std::size_t bytes);

/// Settings of one model. A value.
struct ModelSettings {
  std::string name;
  std::optional<std::uint64_t> max_output_tokens = std::nullopt;
  std::optional<double> temperature = std::nullopt;
  std::optional<double> top_p = std::nullopt;
  std::string reasoning_effort = {};
  bool stream = true;
  std::string extra_body = {};  ///< see ModelCall
};

/// A Proposer that asks language models. A request that names no model goes to the first one.
///
/// A reply becomes a child or a refusal: `declined` if the model refused, `empty_reply`, `truncated` if a
/// token limit cut it off, or one of extract()'s. If a reply is_only_reasoning(), a program in the reasoning
/// becomes the child; without one the reply is an `empty_reply`. The cost of the reply always counts, as does
/// the cost of earlier failed attempts. If no prompt can be built or the client gives up, the answer is that
/// Error. It is a PaidError if attempts were billed or may have been billed.
///
/// Errors: `invalid_argument` if `models` is empty or names a model twice. A request for a model that is not
/// in `models` is answered `invalid_argument`.
Result<std::shared_ptr<Proposer>> make_chat_proposer(std::shared_ptr<ModelClient> client,
                                                     PromptBuilder prompts, std::vector<ModelSettings> models,
                                                     PriceTable prices = {}, KeepOptions keep = {});

/// Makes a proposal from the reply to a request and its prompt, with the reply's tokens. Without a parent,
/// the program is put into `blank` (PromptBuilder::blank_candidate). Pure.
Proposal proposal_from(const ModelReply& reply, const ProposalRequest& request, const Prompt& prompt,
                       const Source& blank);

}  // namespace kernelsmith
