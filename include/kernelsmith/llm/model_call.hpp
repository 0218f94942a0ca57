// What a language model is asked and what it answers, in no protocol's terms. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith {

/// How a server is spoken to.
enum class Protocol {
  chat_completions,  ///< OpenAI's Chat Completions: vLLM, SGLang, llama.cpp, Ollama and most gateways
  responses,         ///< OpenAI's Responses
  messages,          ///< Anthropic's Messages
};
std::string_view name_of(Protocol protocol);
std::optional<Protocol> protocol_from(std::string_view name);

enum class Role { system, user, assistant };

/// One message of a prompt.
struct Message {
  Role role = Role::user;
  std::string text;  ///< UTF-8
  std::string extra_body =
      {};  ///< a JSON object whose keys are laid over it (Chat Completions); may be empty

  friend bool operator==(const Message&, const Message&) = default;
};

/// One call. What is absent is left to the server.
struct ModelCall {
  std::string model;
  std::vector<Message> messages;
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::string reasoning_effort;  ///< such as "low"; empty: not sent
  bool stream = true;
  bool logprobs = false;   ///< asks for log-probabilities, if the protocol can
  bool token_ids = false;  ///< asks for token ids: Chat Completions as vLLM speaks it
  std::string extra_body;  ///< a JSON object whose keys are laid over the body; may be empty
};

/// Why a reply ended.
enum class Finish {
  stop,      ///< the model was done
  length,    ///< a limit of tokens cut it off
  declined,  ///< the model or a filter refused
  other,     ///< a reason that we do not know
};
std::string_view name_of(Finish finish);

/// Tokens of one call, as the server counts them.
struct Usage {
  std::uint64_t input_tokens = 0;        ///< all of them: cached ones and those written to a cache included
  std::uint64_t cached_tokens = 0;       ///< of the input, read from a cache
  std::uint64_t cache_write_tokens = 0;  ///< of the input, written to a cache
  std::uint64_t output_tokens = 0;       ///< all of them: reasoning included
  std::uint64_t reasoning_tokens = 0;    ///< of the output

  friend bool operator==(const Usage&, const Usage&) = default;
};

/// The tokens of a reply, as far as they were asked for and the server reported them.
struct TokenTrace {
  std::vector<std::string> tokens;
  std::vector<double> logprobs;  ///< natural logarithms, one for each of `tokens`
  std::vector<std::uint64_t> token_ids;
  std::vector<std::uint64_t> prompt_token_ids;

  friend bool operator==(const TokenTrace&, const TokenTrace&) = default;
};

/// What a model answered, in no protocol's terms.
struct ModelReply {
  std::string text;       ///< UTF-8; without reasoning if the protocol parts it
  std::string reasoning;  ///< what the server shows of it
  Finish finish = Finish::stop;
  std::string finish_detail;   ///< the server's own word, or the text of the refusal
  std::optional<Usage> usage;  ///< empty if the server reported none
  std::string id;              ///< the server's
  std::string model;           ///< that answered, as the server names it
  TokenTrace trace;
  std::string tool_calls = {};  ///< the JSON list of Chat Completions; empty if it calls no tool

  friend bool operator==(const ModelReply&, const ModelReply&) = default;
};

/// Whether a reply that the model ended has no text but reasoning, as from servers that part the two wrongly.
bool is_only_reasoning(const ModelReply& reply);

}  // namespace kernelsmith
