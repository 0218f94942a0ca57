// Common code of the protocols: the request's common fields, usage, and names.
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

std::string texts_of(const ModelCall& call, Role role) {
  std::string texts;
  for (const Message& message : call.messages) {
    if (message.role != role) continue;
    if (!texts.empty()) texts += "\n\n";
    texts += message.text;
  }
  return texts;
}

}  // namespace llm

namespace {

using llm::Json;

Json encode(Protocol protocol, const ModelCall& call, const ModelTraits& traits) {
  switch (protocol) {
    case Protocol::chat_completions:
      return llm::encode_chat(call, traits);
    case Protocol::responses:
      return llm::encode_responses(call, traits);
    case Protocol::messages:
      break;
  }
  return llm::encode_messages(call, traits);
}

Attempt<ModelReply> decode(Protocol protocol, const Json& document) {
  if (!llm::error_in(document).is_null()) return llm::failure_of(document, 0);
  switch (protocol) {
    case Protocol::chat_completions:
      return llm::decode_chat(document);
    case Protocol::responses:
      return llm::decode_responses(document);
    case Protocol::messages:
      break;
  }
  return llm::decode_messages(document);
}

std::optional<Usage> usage_in(Protocol protocol, const Json& document) {
  switch (protocol) {
    case Protocol::chat_completions:
      return llm::chat_usage(document);
    case Protocol::responses:
      return llm::responses_usage(document);
    case Protocol::messages:
      break;
  }
  return llm::messages_usage(document);
}

}  // namespace

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::chat_completions:
      return "chat_completions";
    case Protocol::responses:
      return "responses";
    case Protocol::messages:
      return "messages";
  }
  return "?";
}

std::optional<Protocol> protocol_from(std::string_view name) {
  for (const Protocol protocol : {Protocol::chat_completions, Protocol::responses, Protocol::messages})
    if (name_of(protocol) == name) return protocol;
  return std::nullopt;
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

std::string_view path_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::chat_completions:
      return "/chat/completions";
    case Protocol::responses:
      return "/responses";
    case Protocol::messages:
      return "/messages";
  }
  return "";
}

Result<std::string> encode_call(Protocol protocol, const ModelCall& call, const ModelTraits& traits) {
  Json body = encode(protocol, call, traits);
  if (!call.extra_body.empty()) {
    const auto extra = llm::parse_json(call.extra_body);
    if (!extra || !extra->is_object())
      return fail(ErrorCode::invalid_argument, "extra_body is no JSON object", "",
                  R"(write it as JSON text, such as '{"top_k": 20}')");
    for (const char* key : {"stream", "model"})
      if (extra->contains(key))
        return fail(ErrorCode::invalid_argument,
                    std::string("extra_body sets \"") + key + "\", which has a setting of its own");
    for (const char* key : {"messages", "input", "instructions", "system"})
      if (extra->contains(key))
        return fail(ErrorCode::invalid_argument,
                    std::string("extra_body sets \"") + key + "\", in whose place the prompt goes", "",
                    "a prompt of your own is a template: docs/prompts.md");
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
  if (!document.is_object()) return llm::no_reply(document, "is no JSON object");
  auto reply = decode(protocol, document);
  if (reply) return reply;
  CallFailure failure = reply.error();
  failure.usage = usage_in(protocol, document);
  return failure;
}

std::unique_ptr<StreamDecoder> make_stream_decoder(Protocol protocol) {
  switch (protocol) {
    case Protocol::chat_completions:
      return llm::chat_stream();
    case Protocol::responses:
      return llm::responses_stream();
    case Protocol::messages:
      break;
  }
  return llm::messages_stream();
}

}  // namespace kernelsmith
