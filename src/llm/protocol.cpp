// Common code of the protocols: the request's common fields, usage, and names.
#include <algorithm>
#include <array>

#include "codecs.hpp"

namespace kernelsmith {
namespace llm {

Json common_body(const ModelCall& call, const ModelTraits& traits) {
  Json body = {{"model", call.model}, {"stream", call.stream}};
  const std::uint64_t limit = call.max_output_tokens.value_or(traits.default_token_limit);
  if (limit > 0) body[traits.token_limit_field] = limit;
  if (traits.takes_sampling && call.temperature) body["temperature"] = *call.temperature;
  if (traits.takes_sampling && call.top_p) body["top_p"] = *call.top_p;
  return body;
}

std::string system_text(const ModelCall& call) {
  std::string texts;
  for (const Message& message : call.messages) {
    if (message.role != Role::system) continue;
    if (!texts.empty()) texts += "\n\n";
    texts += message.text;
  }
  return texts;
}

Json turns_of(const ModelCall& call) {
  Json turns = Json::array();
  for (const Message& message : call.messages)
    if (message.role != Role::system)
      turns.push_back(
          {{"role", message.role == Role::user ? "user" : "assistant"}, {"content", message.text}});
  return turns;
}

}  // namespace llm

namespace {

using llm::Json;

struct Codec {
  std::string_view name, path;
  Json (*encode)(const ModelCall& call, const ModelTraits& traits);
  Attempt<ModelReply> (*decode)(const Json& document);
  std::optional<Usage> (*usage)(const Json& document);
  std::unique_ptr<StreamDecoder> (*stream)();
};

/// The codecs, in the order of Protocol.
constexpr std::array kCodecs{Codec{"chat_completions", "/chat/completions", llm::encode_chat,
                                   llm::decode_chat, llm::chat_usage, llm::chat_stream},
                             Codec{"responses", "/responses", llm::encode_responses, llm::decode_responses,
                                   llm::responses_usage, llm::responses_stream},
                             Codec{"messages", "/messages", llm::encode_messages, llm::decode_messages,
                                   llm::messages_usage, llm::messages_stream}};

const Codec& codec_of(Protocol protocol) { return kCodecs.at(static_cast<std::size_t>(protocol)); }

}  // namespace

std::string_view name_of(Protocol protocol) { return codec_of(protocol).name; }

std::optional<Protocol> protocol_from(std::string_view name) {
  const auto found = std::ranges::find(kCodecs, name, &Codec::name);
  if (found == kCodecs.end()) return std::nullopt;
  return static_cast<Protocol>(found - kCodecs.begin());
}

std::string_view name_of(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::declined:
      return "declined";
    case Finish::other:
      return "other";
  }
  return "?";
}

bool is_only_reasoning(const ModelReply& reply) {
  const bool ended = reply.finish != Finish::length && reply.finish != Finish::declined;
  const auto is_blank = [](const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == text.npos;
  };
  return ended && is_blank(reply.text) && reply.tool_calls.empty() && !is_blank(reply.reasoning);
}

std::string_view path_of(Protocol protocol) { return codec_of(protocol).path; }

Result<std::string> encode_call(Protocol protocol, const ModelCall& call, const ModelTraits& traits) {
  Json body = codec_of(protocol).encode(call, traits);
  if (!call.extra_body.empty()) {
    const auto extra = llm::parse_json(call.extra_body);
    if (!extra || !extra->is_object())
      return fail(ErrorCode::invalid_argument, "extra_body is not a JSON object", "",
                  R"(write it as JSON text, such as '{"top_k": 20}')");
    for (const char* key : {"stream", "model"})
      if (extra->contains(key))
        return fail(ErrorCode::invalid_argument,
                    std::string("extra_body sets \"") + key + "\", which has its own setting");
    for (const char* key : {"messages", "input", "instructions", "system"})
      if (extra->contains(key))
        return fail(ErrorCode::invalid_argument,
                    std::string("extra_body sets \"") + key + "\", which the prompt sets", "",
                    "to change the prompt, write a template: docs/prompts.md");
    body.merge_patch(*extra);
  }
  try {
    return body.dump();
  } catch (const Json::exception&) {
    return fail(ErrorCode::invalid_argument, "the prompt holds bytes that are not UTF-8");
  }
}

Attempt<ModelReply> decode_reply(Protocol protocol, std::string_view body) {
  const auto parsed = llm::parse_json(body);
  if (!parsed)
    return llm::bad_reply("is not a JSON object in UTF-8, is cut off, or holds millions of values");
  const Json& document = llm::out_of_list(*parsed);
  if (!document.is_object()) return llm::no_reply(document, "is not a JSON object");
  const auto& error = llm::error_in(document);
  auto reply = error.is_null() ? codec_of(protocol).decode(document) : llm::failure_of(document, 0);
  if (reply) return reply;
  CallFailure failure = reply.error();
  failure.usage = codec_of(protocol).usage(document);
  return failure;
}

std::unique_ptr<StreamDecoder> make_stream_decoder(Protocol protocol) { return codec_of(protocol).stream(); }

}  // namespace kernelsmith
