// OpenAI's Responses.
#include "codecs.hpp"
#include "event_decoder.hpp"

namespace kernelsmith::llm {
namespace {

void add_content(const Json& content, ModelReply& reply) {
  if (!content.is_array()) return;
  for (const Json& part : content) {
    const std::string type = text_at(part, "type");
    if (type == "output_text") {
      reply.text += text_at(part, "text");
      add_logprobs(member(part, "logprobs"), reply.trace);
    }
    if (type == "summary_text" || type == "reasoning_text") reply.reasoning += text_at(part, "text");
    if (type == "refusal") {
      reply.finish = Finish::declined;
      reply.finish_detail += text_at(part, "refusal");
    }
  }
}

/// Sets why a response was cut off: a limit (also if no reason is given) or a filter. Any other reason is a
/// failure of the server.
/// BrokenOff.ALimitAndAFilterAreTheReplys
std::optional<CallFailure> set_incomplete(const Json& response, ModelReply& reply) {
  const std::string reason = text_at(member(response, "incomplete_details"), "reason");
  reply.finish_detail = reason;
  reply.finish = reason == "content_filter" ? Finish::declined : Finish::length;
  const bool by_limit = reason.empty() || reason == "length" || reason.starts_with("max_");
  if (by_limit || reply.finish == Finish::declined) return std::nullopt;
  return broken_off(reason);
}

CallFailure failed(const Json& response) {
  const Json& error = error_in(response);
  return error.is_null() ? broken_off("failed") : failure_of(error, 0);
}

/// Takes the reply from the last event, which repeats the text of all deltas. Uses the deltas only if that
/// event lacks the text.
class ResponsesStream final : public EventDecoder {
 public:
  bool begun() const override { return begun_ || outcome_; }

  bool complete() const override { return outcome_ && outcome_->has_value(); }

  bool ended() const override { return complete(); }

  std::optional<Usage> usage() const override { return usage_; }

  std::string so_far() const override { return text_ + reasoning_ + other_; }

  Attempt<ModelReply> finish() override {
    if (!outcome_) return without_reply("is a stream that broke off before its end");
    // Some gateways leave the output of the last event empty. Responses.ReasoningIsKeptWhereverItStands
    if (*outcome_ && (*outcome_)->text.empty() && (*outcome_)->finish != Finish::declined)
      (*outcome_)->text = std::move(text_);
    if (*outcome_ && (*outcome_)->reasoning.empty()) (*outcome_)->reasoning = std::move(reasoning_);
    if (*outcome_ && !(*outcome_)->usage) (*outcome_)->usage = usage_;
    return std::move(*outcome_);
  }

 private:
  Attempt<void> take_document(const std::string& type, const Json& document) override {
    const Json& response = member(document, "response");
    if (auto told = responses_usage(response)) usage_ = told;
    if (type.ends_with(".delta")) {
      begun_ = true;
      text_of(type) += text_at(document, "delta");
    }
    if (type == "response.failed") return failed(response);
    if (!type.starts_with("response.")) put_aside(document);
    const bool ends = type == "response.completed" || type == "response.incomplete";
    if (!ends || (outcome_ && *outcome_)) return {};
    outcome_ = decode_responses(with_output(response));
    // Continues, because a response may still follow.
    // Stream.WhatAServerSaysInThePlaceOfAReplyIsTold
    if (*outcome_ || outcome_->error().error.code == ErrorCode::bad_reply) return {};
    return outcome_->error();
  }

  void take_done() override {}

  std::string& text_of(const std::string& type) {
    if (type == "response.output_text.delta") return text_;
    return type.find("reasoning") != type.npos ? reasoning_ : other_;
  }

  /// The response with its output. Some gateways omit the output from the last event, because they have
  /// already sent its text.
  /// Stream.TheProtocolsOwnEndIsTheReplysWhereNoReasonIsTold
  Json with_output(const Json& response) const {
    Json whole = response.is_object() ? response : Json::object();
    if (!member(whole, "output").is_array() && !text_.empty()) whole["output"] = Json::array();
    return whole;
  }

  std::optional<Attempt<ModelReply>> outcome_;
  std::optional<Usage> usage_;
  std::string text_, reasoning_, other_;
  bool begun_ = false;
};

}  // namespace

Json encode_responses(const ModelCall& call, const ModelTraits& traits) {
  Json body = common_body(call, traits);
  if (std::string instructions = system_text(call); !instructions.empty())
    body["instructions"] = std::move(instructions);
  body["input"] = turns_of(call);
  body["store"] = false;
  if (call.logprobs) body["include"] = {"message.output_text.logprobs"};
  if (traits.takes_effort && !call.reasoning_effort.empty())
    body["reasoning"] = {{"effort", call.reasoning_effort}};
  return body;
}

std::optional<Usage> responses_usage(const Json& response) {
  const Json& in = member(response, "usage");
  return usage_from({.input = tokens_at(in, "input_tokens"),
                     .cached = tokens_at(member(in, "input_tokens_details"), "cached_tokens"),
                     .cache_write = {},
                     .output = tokens_at(in, "output_tokens"),
                     .reasoning = tokens_at(member(in, "output_tokens_details"), "reasoning_tokens")});
}

Attempt<ModelReply> decode_responses(const Json& document) {
  const std::string status = text_at(document, "status");
  if (status == "failed") return failed(document);
  if (!status.empty() && status != "completed" && status != "incomplete")
    return bad_reply("is not a finished response: its status is " + status);
  const Json& output = member(document, "output");
  if (!output.is_array()) return no_reply(document, "holds no output");
  ModelReply reply;
  reply.id = text_at(document, "id");
  reply.model = text_at(document, "model");
  reply.usage = responses_usage(document);
  std::optional<CallFailure> broken;
  if (status == "incomplete") broken = set_incomplete(document, reply);
  for (const Json& item : output) {
    const std::string type = text_at(item, "type");
    if (type == "message") add_content(member(item, "content"), reply);
    if (type != "reasoning") continue;
    add_content(member(item, "summary"), reply);
    add_content(member(item, "content"), reply);
  }
  if (broken) {
    broken->begun = has_text(reply);
    return std::move(*broken);
  }
  if (reply.finish_detail.empty()) reply.finish_detail = status;
  return reply;
}

std::unique_ptr<StreamDecoder> responses_stream() { return std::make_unique<ResponsesStream>(); }

}  // namespace kernelsmith::llm
