// Calls to a language model and its replies, independent of the protocol. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith {

/// A server's protocol.
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
  std::string text;             ///< UTF-8
  std::string extra_body = {};  ///< a JSON object whose keys replace the message's (Chat Completions); may be
                                ///< empty

  friend bool operator==(const Message&, const Message&) = default;
};

/// One call. For settings that are absent, the server chooses.
struct ModelCall {
  std::string model;
  std::vector<Message> messages;
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::string reasoning_effort;  ///< such as "low"; not sent if empty
  bool stream = true;
  bool logprobs = false;   ///< requests log-probabilities, if the protocol supports them
  bool token_ids = false;  ///< requests token ids (vLLM's extension of Chat Completions)
  std::string extra_body;  ///< a JSON object whose keys replace those of the body; may be empty
};

/// Why a reply ended.
enum class Finish {
  stop,      ///< the model finished
  length,    ///< a limit of tokens cut it off
  declined,  ///< the model or a filter declined
  other,     ///< a reason that we do not know
};
std::string_view name_of(Finish finish);

/// Tokens of one call, as the server counts them.
struct Usage {
  std::uint64_t input_tokens = 0;        ///< all, including those read from or written to a cache
  std::uint64_t cached_tokens = 0;       ///< the part of the input that was read from a cache
  std::uint64_t cache_write_tokens = 0;  ///< the part of the input that was written to a cache
  std::uint64_t output_tokens = 0;       ///< all, including reasoning
  std::uint64_t reasoning_tokens = 0;    ///< the part of the output that is reasoning

  friend bool operator==(const Usage&, const Usage&) = default;
};

/// The tokens of a reply, if they were requested and the server reported them.
struct TokenTrace {
  std::vector<std::string> tokens;
  std::vector<double> logprobs;  ///< natural logarithms, one for each element of `tokens`
  std::vector<std::uint64_t> token_ids;
  std::vector<std::uint64_t> prompt_token_ids;

  friend bool operator==(const TokenTrace&, const TokenTrace&) = default;
};

/// A model's reply, independent of the protocol.
struct ModelReply {
  std::string text;       ///< UTF-8; without reasoning if the protocol separates it
  std::string reasoning;  ///< the part of the reasoning that the server shows
  Finish finish = Finish::stop;
  std::string finish_detail;   ///< the server's own reason, or the text of the refusal
  std::optional<Usage> usage;  ///< empty if the server reported none
  std::string id;              ///< the server's id of the reply
  std::string model;           ///< the model that answered, by the server's name
  TokenTrace trace;
  std::string tool_calls = {};  ///< the JSON list of Chat Completions; empty without tool calls

  friend bool operator==(const ModelReply&, const ModelReply&) = default;
};

/// Whether a finished reply has reasoning but no text. Servers that separate the two wrongly send such
/// replies.
bool is_only_reasoning(const ModelReply& reply);

}  // namespace kernelsmith
