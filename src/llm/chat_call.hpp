// Common code of the chat proposer and the chat model: a model's settings as a call, and the cost of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>

namespace kernelsmith::llm {

/// The most bytes that are kept of a name that a server reports.
inline constexpr std::size_t kNameBytes = 200;

/// Up to `bytes` of a UTF-8 text, cut between two characters.
std::string beginning_of(const std::string& text, std::size_t bytes);

Sampling sampling_of(const ModelCall& call);

/// The call without its messages.
ModelCall call_of(const ModelSettings& model, const KeepOptions& keep);

/// Adds the counts that a server reported.
void add_tokens(const Usage& usage, Cost& cost);

/// The cost of attempts at one call. Used on the client's thread. `prompt_tokens` comes from
/// estimate_tokens().
class Bill {
 public:
  Bill(const std::string& model, std::optional<Price> price);

  void add(const ModelReply& reply, std::uint64_t prompt_tokens);

  /// Corrects the server's counts: they may be smaller than what has arrived, because some servers count the
  /// output at its end.
  void add(const LostCall& lost, std::uint64_t prompt_tokens);

  bool empty() const { return cost_.calls == 0; }
  const Cost& cost() const { return cost_; }

 private:
  void add(const std::optional<Usage>& usage);

  /// Adds estimated tokens, because a budget of money must also hold with servers that report no usage.
  void guess(std::uint64_t input_tokens, std::uint64_t output_tokens);

  Cost cost_;
  std::optional<Price> price_;
};

/// A call, and what is needed to turn its reply into a Proposal.
struct Question {
  ModelCall call;
  ProposalRequest request = {};
  Prompt prompt = {};
  Source blank;  ///< the source for the reply to a request without a parent
  KeepOptions keep;
  std::optional<Price> price;
};

/// Asks the question. The answer is a Proposal with the cost of all attempts, a PaidError if attempts were
/// billed in vain, or the client's error. Passes the cost of each lost attempt to `request.lost` at once, if
/// that is set.
void ask(ModelClient& client, Question question, std::stop_token stop, Sink<Proposal> done);

}  // namespace kernelsmith::llm
