// Anthropic's Messages.
#include "codecs.hpp"

namespace kernelsmith::llm {
namespace {

Finish finish_from(const std::string& reason) {
  if (reason == "end_turn" || reason == "stop_sequence") return Finish::stop;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Finish::length;
  if (reason == "refusal") return Finish::declined;
  return Finish::other;
}

/// The server counts input beside the cache, and we count all of it. Later counts replace earlier ones.
void add_usage(const Json& holder, std::optional<Usage>& usage) {
  const Json& in = member(holder, "usage");
  if (!in.is_object()) return;
  if (!usage) usage.emplace();
  if (in.contains("input_tokens")) {
    usage->cached_tokens = count_at(in, "cache_read_input_tokens");
    usage->cache_write_tokens = count_at(in, "cache_creation_input_tokens");
    usage->input_tokens = count_at(in, "input_tokens") + usage->cached_tokens + usage->cache_write_tokens;
  }
  if (in.contains("output_tokens")) usage->output_tokens = count_at(in, "output_tokens");
}

void add_block(const Json& block, ModelReply& reply) {
  const std::string type = text_at(block, "type");
  if (type == "text" || type == "text_delta") reply.text += text_at(block, "text");
  if (type == "thinking" || type == "thinking_delta") reply.reasoning += text_at(block, "thinking");
}

void set_finish(const std::string& reason, ModelReply& reply) {
  reply.finish = finish_from(reason);
  reply.finish_detail = reason;
}

class MessagesStream final : public StreamDecoder {
 public:
  Attempt<void> take(std::string_view event, std::string_view data) override {
    const auto document = parse_json(data);
    if (!document || !document->is_object()) return bad_reply("has an event that is no JSON object in UTF-8");
    std::string type = text_at(*document, "type");
    if (type.empty()) type = event;
    if (type == "error" || document->contains("error")) return failure_of(member(*document, "error"), 0);
    if (type == "message_start") {
      const Json& message = member(*document, "message");
      reply_.id = text_at(message, "id");
      reply_.model = text_at(message, "model");
      add_usage(message, reply_.usage);
    }
    if (type == "content_block_start") add_block(member(*document, "content_block"), reply_);
    if (type == "content_block_delta") {
      begun_ = true;
      add_block(member(*document, "delta"), reply_);
    }
    if (type == "message_delta") {
      add_usage(*document, reply_.usage);
      if (const std::string reason = text_at(member(*document, "delta"), "stop_reason"); !reason.empty()) {
        finished_ = true;
        set_finish(reason, reply_);
      }
    }
    return {};
  }

  bool begun() const override { return begun_ || finished_; }

  std::optional<Usage> usage() const override { return reply_.usage; }

  Attempt<ModelReply> finish() override {
    if (!finished_) return bad_reply("is a stream that broke off before its end");
    return std::move(reply_);
  }

 private:
  ModelReply reply_;
  bool begun_ = false, finished_ = false;
};

}  // namespace

Json encode_messages(const ModelCall& call, const ModelTraits& traits) {
  Json body = common_body(call, traits);
  if (std::string system = texts_of(call, Role::system); !system.empty()) body["system"] = std::move(system);
  Json& messages = body["messages"] = Json::array();
  for (const Message& message : call.messages) {
    if (message.role == Role::system) continue;
    const char* role = message.role == Role::user ? "user" : "assistant";
    messages.push_back({{"role", role}, {"content", message.text}});
  }
  return body;
}

std::optional<Usage> messages_usage(const Json& document) {
  std::optional<Usage> usage;
  add_usage(document, usage);
  return usage;
}

Attempt<ModelReply> decode_messages(const Json& document) {
  const Json& content = member(document, "content");
  if (!content.is_array()) return bad_reply("holds no content");
  ModelReply reply;
  reply.id = text_at(document, "id");
  reply.model = text_at(document, "model");
  add_usage(document, reply.usage);
  for (const Json& block : content) add_block(block, reply);
  set_finish(text_at(document, "stop_reason"), reply);
  if (reply.finish_detail.empty()) return bad_reply("has no stop_reason");
  return reply;
}

std::unique_ptr<StreamDecoder> messages_stream() { return std::make_unique<MessagesStream>(); }

}  // namespace kernelsmith::llm
