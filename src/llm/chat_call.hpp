// Common code of the chat proposer and the chat model: a model's settings as a call, and the cost of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>

namespace kernelsmith::llm {

/// The longest kept name that a server reports.
inline constexpr std::size_t kNameBytes = 200;

/// Up to `bytes` of a UTF-8 text, cut between two characters.
std::string beginning_of(const std::string& text, std::size_t bytes);

Sampling sampling_of(const ModelCall& call);

/// The call without its messages.
ModelCall call_of(const ModelSettings& model, const KeepOptions& keep);

/// Adds a server's counts.
void add_tokens(const Usage& usage, Cost& cost);

/// The cost of attempts at one call. Used on the client's thread. `prompt_tokens` are estimate_tokens()'.
class Bill {
 public:
  Bill(const std::string& model, std::optional<Price> price);

  void add(const ModelReply& reply, std::uint64_t prompt_tokens);

  /// The server may have reported less than has arrived, because some count the output at its end.
  void add(const LostCall& lost, std::uint64_t prompt_tokens);

  bool empty() const { return cost_.calls == 0; }
  const Cost& cost() const { return cost_; }

 private:
  void add(const std::optional<Usage>& usage);

  /// A budget of money must also hold with servers that report no usage.
  void guess(std::uint64_t input_tokens, std::uint64_t output_tokens);

  Cost cost_;
  std::optional<Price> price_;
};

/// What is asked, and what becomes of the reply.
struct Question {
  ModelCall call;
  ProposalRequest request = {};
  Prompt prompt = {};
  Source blank;  ///< that a reply is laid into without a parent
  KeepOptions keep;
  std::optional<Price> price;
};

/// Asks it. The answer is a Proposal with the cost of all attempts, a PaidError if some were billed in vain,
/// or the client's error. If `request.lost` is set, it gets the cost of each lost attempt at once.
void ask(ModelClient& client, Question question, std::stop_token stop, Sink<Proposal> done);

}  // namespace kernelsmith::llm
