// OpenAI's Chat Completions, as used by OpenAI, vLLM, SGLang, llama.cpp, Ollama and gateways.
#include "codecs.hpp"
#include "event_decoder.hpp"

namespace kernelsmith::llm {
namespace {

std::string_view role_name(Role role, const ModelTraits& traits) {
  switch (role) {
    case Role::system:
      return traits.system_role;
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
  }
  return "user";
}

Finish finish_from(const std::string& reason) {
  if (reason == "stop" || reason == "eos") return Finish::stop;
  if (reason == "length" || reason == "model_length" || reason == "max_tokens") return Finish::length;
  if (reason == "content_filter" || reason == "refusal") return Finish::declined;
  return Finish::other;
}

/// The reasoning, for which servers use either of two names.
std::string reasoning_of(const Json& message) {
  std::string reasoning = text_at(message, "reasoning_content");
  return reasoning.empty() ? text_at(message, "reasoning") : reasoning;
}

void add_usage(const Json& chunk, ModelReply& reply) {
  if (auto usage = chat_usage(chunk)) reply.usage = usage;
}

/// The first choice, or null if there is none. Gateways may send several choices, and a stream mixes them.
/// Chat.ReadsTheFirstOfSeveralChoicesOnly
const Json& first_choice(const Json& document) {
  const Json& choices = member(document, "choices");
  if (choices.is_array())
    for (const Json& choice : choices)
      if (const Json& index = member(choice, "index"); !index.is_number_integer() || index == 0)
        return choice;
  return member(document, "");
}

/// Adds content that is a list of parts, as Mistral's reasoning models and some gateways send it.
/// Stream.ContentMayComeInParts
void add_parts(const Json& content, ModelReply& reply) {
  if (!content.is_array()) return;
  for (const Json& part : content) {
    reply.text += text_at(part, "text");
    reply.reasoning += text_at(part, "thinking");
    if (const Json& thinking = member(part, "thinking"); thinking.is_array())
      for (const Json& piece : thinking) reply.reasoning += text_at(piece, "text");
  }
}

/// Adds the calls of a complete message, or pieces of them by `index`: a stream splits the text of the
/// arguments.
/// Chat.CallsOfTools
void add_tool_calls(const Json& pieces, Json& calls) {
  if (!pieces.is_array()) return;
  for (const Json& piece : pieces) {
    if (!piece.is_object()) continue;
    const Json& index = member(piece, "index");
    const std::size_t at = index.is_number_unsigned() ? index.get<std::size_t>() : calls.size();
    if (at > calls.size()) continue;
    if (at == calls.size()) calls.push_back({{"type", "function"}, {"id", ""}, {"function", Json::object()}});
    if (std::string id = text_at(piece, "id"); !id.empty()) calls[at]["id"] = std::move(id);
    const Json& function = member(piece, "function");
    for (const char* key : {"name", "arguments"})
      calls[at]["function"][key] = text_at(calls[at]["function"], key) + text_at(function, key);
  }
}

/// Adds the contents of a choice's message or delta.
void add_message(const Json& message, ModelReply& reply) {
  add_parts(member(message, "content"), reply);
  reply.text += text_at(message, "content");
  reply.reasoning += reasoning_of(message);
  if (std::string refusal = text_at(message, "refusal"); !refusal.empty()) {
    reply.finish = Finish::declined;
    reply.finish_detail += refusal;
  }
}

/// Adds the trace of the tokens. `holder` is the answer or a chunk of it, `choice` its first choice.
void add_trace(const Json& holder, const Json& choice, TokenTrace& trace) {
  add_logprobs(member(member(choice, "logprobs"), "content"), trace);
  add_ids(member(choice, "token_ids"), trace.token_ids);
  add_ids(member(holder, "prompt_token_ids"), trace.prompt_token_ids);
}

/// Sets how the reply ended. If the model declined with a text, that text stays the detail.
void set_finish(const std::string& reason, ModelReply& reply) {
  if (reply.finish == Finish::declined && !reply.finish_detail.empty()) return;
  reply.finish = finish_from(reason);
  reply.finish_detail = reason;
}

/// The failure if the server itself aborted the choice; empty if the choice continues or the model ended it.
/// BrokenOff.AnErrorWithinAChoiceIsItsFailure
std::optional<CallFailure> failure_in(const Json& choice) {
  if (!error_in(choice).is_null()) return failure_of(choice, 0);
  return broken_off_by(text_at(choice, "finish_reason"));
}

class ChatStream final : public EventDecoder {
 public:
  bool begun() const override {
    return finished_ || !calls_.empty() || has_text(reply_) || !reply_.finish_detail.empty();
  }

  /// Whether the reply is complete. If a gateway sends no finish_reason, only [DONE] shows that.
  /// Stream.TheProtocolsOwnEndIsTheReplysWhereNoReasonIsTold
  bool complete() const override { return finished_ || (done_ && begun()); }

  bool ended() const override { return done_ && complete(); }

  std::optional<Usage> usage() const override { return reply_.usage; }

  std::string so_far() const override { return reply_.text + reply_.reasoning; }

  Attempt<ModelReply> finish() override {
    // A connection that breaks off after the finish_reason loses only the usage; a connection that ends
    // regularly after the usage loses nothing.
    // Stream.OneThatEndsInOrderBehindItsUsageIsAReply
    if (!calls_.empty()) reply_.tool_calls = calls_.dump();
    if (complete() || (has_text(reply_) && reply_.usage)) return std::move(reply_);
    return without_reply(done_ ? "holds no choices" : "is a stream that broke off before its end");
  }

 private:
  Attempt<void> take_document(const std::string&, const Json& chunk) override {
    add_usage(chunk, reply_);
    if (reply_.id.empty()) reply_.id = text_at(chunk, "id");
    if (reply_.model.empty()) reply_.model = text_at(chunk, "model");
    const Json& choice = first_choice(chunk);
    if (choice.is_null()) put_aside(chunk);
    add_piece(choice);
    add_trace(chunk, choice, reply_.trace);
    if (auto failure = failure_in(choice)) return std::move(*failure);
    if (const std::string reason = text_at(choice, "finish_reason"); !reason.empty()) {
      finished_ = true;
      set_finish(reason, reply_);
    }
    return {};
  }

  void take_done() override { done_ = true; }

  /// Adds a choice of one event. Some gateways send `message` instead of `delta`: a piece, everything so far,
  /// or, after deltas, the whole message again.
  /// Chat.AMessageInThePlaceOfADeltaIsTaken
  void add_piece(const Json& choice) {
    const std::size_t before = reply_.text.size() + reply_.reasoning.size();
    add_message(member(choice, "delta"), reply_);
    add_tool_calls(member(member(choice, "delta"), "tool_calls"), calls_);
    in_deltas_ = in_deltas_ || reply_.text.size() + reply_.reasoning.size() > before;
    if (in_deltas_) return;
    ModelReply message;
    add_message(member(choice, "message"), message);
    if (message.text.starts_with(reply_.text)) reply_.text.clear();
    if (message.reasoning.starts_with(reply_.reasoning)) reply_.reasoning.clear();
    add_message(member(choice, "message"), reply_);
  }

  ModelReply reply_;
  Json calls_ = Json::array();
  bool finished_ = false, done_ = false, in_deltas_ = false;
};

}  // namespace

Json encode_chat(const ModelCall& call, const ModelTraits& traits) {
  Json body = common_body(call, traits);
  Json& messages = body["messages"] = Json::array();
  for (const Message& message : call.messages) {
    messages.push_back({{"role", role_name(message.role, traits)}, {"content", message.text}});
    if (auto extra = parse_json(message.extra_body); extra && extra->is_object())
      messages.back().update(*extra);
  }
  if (call.stream) body["stream_options"] = {{"include_usage", true}};
  if (traits.takes_effort && !call.reasoning_effort.empty()) body["reasoning_effort"] = call.reasoning_effort;
  if (call.logprobs) body["logprobs"] = true;
  if (call.token_ids) body["return_token_ids"] = true;
  return body;
}

std::optional<Usage> chat_usage(const Json& document) {
  const Json& in = member(document, "usage");
  return usage_from({.input = tokens_at(in, "prompt_tokens"),
                     .cached = tokens_at(member(in, "prompt_tokens_details"), "cached_tokens"),
                     .cache_write = {},
                     .output = tokens_at(in, "completion_tokens"),
                     .reasoning = tokens_at(member(in, "completion_tokens_details"), "reasoning_tokens")});
}

Attempt<ModelReply> decode_chat(const Json& document) {
  const Json& choice = first_choice(document);
  if (choice.is_null()) return no_reply(document, "holds no choices");
  ModelReply reply;
  reply.id = text_at(document, "id");
  reply.model = text_at(document, "model");
  add_usage(document, reply);
  const Json& whole = member(choice, "message");
  const Json& message = whole.is_object() ? whole : member(choice, "delta");
  add_message(message, reply);
  add_trace(document, choice, reply.trace);
  if (auto failure = failure_in(choice)) {
    failure->begun = has_text(reply);
    return std::move(*failure);
  }
  if (!message.is_object()) return bad_reply("has a choice without a message");
  Json calls = Json::array();
  add_tool_calls(member(message, "tool_calls"), calls);
  if (!calls.empty()) reply.tool_calls = calls.dump();
  set_finish(text_at(choice, "finish_reason"), reply);
  return reply;
}

std::unique_ptr<StreamDecoder> chat_stream() { return std::make_unique<ChatStream>(); }

}  // namespace kernelsmith::llm
