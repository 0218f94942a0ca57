// Anthropic's Messages.
#include "codecs.hpp"
#include "event_decoder.hpp"

namespace kernelsmith::llm {
namespace {

Finish finish_of_stop_reason(const std::string& reason) {
  if (reason == "end_turn" || reason == "stop_sequence") return Finish::stop;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Finish::length;
  if (reason == "refusal") return Finish::declined;
  return Finish::other;
}

/// Replaces each count that the event reports, and keeps the others, because events at the end of a stream
/// omit counts or set them to null.
/// Stream.MessagesForgetNothingThatTheyTold
void add_counts(const Json& holder, TokenCounts& counts) {
  const Json& in = member(holder, "usage");
  const auto replace = [&](std::optional<std::uint64_t>& count, const char* key) {
    if (const auto told = tokens_at(in, key)) count = told;
  };
  replace(counts.input, "input_tokens");
  replace(counts.cached, "cache_read_input_tokens");
  replace(counts.cache_write, "cache_creation_input_tokens");
  replace(counts.output, "output_tokens");
}

/// The usage with all input tokens. The server's count of input omits the cached ones.
std::optional<Usage> usage_of(TokenCounts counts) {
  if (counts.input) *counts.input += counts.cached.value_or(0) + counts.cache_write.value_or(0);
  return usage_from(counts);
}

void add_block(const Json& block, ModelReply& reply) {
  const std::string type = text_at(block, "type");
  if (type == "text" || type == "text_delta") reply.text += text_at(block, "text");
  if (type == "thinking" || type == "thinking_delta") reply.reasoning += text_at(block, "thinking");
}

void set_stop_reason(const std::string& reason, ModelReply& reply) {
  reply.finish = finish_of_stop_reason(reason);
  reply.finish_detail = reason;
}

class MessagesStream final : public EventDecoder {
 public:
  bool begun() const override { return begun_ || finished_; }

  bool complete() const override { return finished_; }

  bool ended() const override { return finished_ && stopped_; }

  std::optional<Usage> usage() const override { return usage_of(counts_); }

  std::string so_far() const override { return reply_.text + reply_.reasoning; }

  Attempt<ModelReply> finish() override {
    // A stream that ends regularly after its usage lacks only the reason.
    // Stream.OneThatEndsInOrderBehindItsUsageIsAReply
    if (!finished_ && !(begun_ && counted_))
      return without_reply("is a stream that broke off before its end");
    reply_.usage = usage();
    return std::move(reply_);
  }

 private:
  Attempt<void> take_document(const std::string& type, const Json& document) override {
    if (type == "message_start") {
      const Json& message = member(document, "message");
      reply_.id = text_at(message, "id");
      reply_.model = text_at(message, "model");
      add_counts(message, counts_);
    }
    if (type == "message_stop") take_done();
    if (type == "content_block_start") add_block(member(document, "content_block"), reply_);
    if (type == "content_block_delta") {
      begun_ = true;
      add_block(member(document, "delta"), reply_);
    }
    if (type == "message_delta") {
      add_counts(document, counts_);
      counted_ = counted_ || tokens_at(member(document, "usage"), "output_tokens");
      if (const std::string reason = text_at(member(document, "delta"), "stop_reason"); !reason.empty()) {
        if (auto failure = broken_off_by(reason)) return std::move(*failure);
        finished_ = true;
        set_stop_reason(reason, reply_);
      }
    }
    if (!type.starts_with("message_") && !type.starts_with("content_block_") && type != "ping")
      put_aside(document);
    return {};
  }

  void take_done() override {
    stopped_ = true;
    finished_ = finished_ || begun_;  // some gateways send no stop_reason
  }

  ModelReply reply_;
  TokenCounts counts_;
  bool begun_ = false, counted_ = false, finished_ = false, stopped_ = false;
};

}  // namespace

Json encode_messages(const ModelCall& call, const ModelTraits& traits) {
  Json body = common_body(call, traits);
  if (std::string system = system_text(call); !system.empty()) body["system"] = std::move(system);
  body["messages"] = turns_of(call);
  return body;
}

std::optional<Usage> messages_usage(const Json& document) {
  TokenCounts counts;
  add_counts(document, counts);
  return usage_of(counts);
}

Attempt<ModelReply> decode_messages(const Json& document) {
  const Json& content = member(document, "content");
  if (!content.is_array()) return no_reply(document, "holds no content");
  ModelReply reply;
  reply.id = text_at(document, "id");
  reply.model = text_at(document, "model");
  reply.usage = messages_usage(document);
  for (const Json& block : content) add_block(block, reply);
  set_stop_reason(text_at(document, "stop_reason"), reply);
  if (auto failure = broken_off_by(reply.finish_detail)) {
    failure->begun = has_text(reply);
    return std::move(*failure);
  }
  if (reply.finish_detail.empty() && !(reply.usage && has_text(reply)))
    return bad_reply("has no stop_reason");
  return reply;
}

std::unique_ptr<StreamDecoder> messages_stream() { return std::make_unique<MessagesStream>(); }

}  // namespace kernelsmith::llm
