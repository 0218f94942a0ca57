#include "redaction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::llm {
namespace {

constexpr std::size_t kShownBytes = 480;

/// Shortens a text, without splitting a character, and replaces or escapes control bytes.
std::string excerpt(std::string text) {
  if (text.size() > kShownBytes) {
    std::size_t end = kShownBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return escape_controls(text);
}

}  // namespace

ModelReply redacted(ModelReply reply, const Secret& key) {
  bool told = false;
  const auto clean = [&](std::string& text) {
    std::string shown = key.redact(text);
    told = told || shown != text;
    text = std::move(shown);
  };
  clean(reply.text);
  clean(reply.reasoning);
  clean(reply.finish_detail);
  std::string tokens;
  for (const std::string& token : reply.trace.tokens) tokens += token;
  clean(tokens);
  if (told) reply.trace = {};
  clean(reply.id);
  clean(reply.model);
  return reply;
}

Error redacted(Error error, const Secret& key) {
  error.message = excerpt(key.redact(std::move(error.message)));
  error.where = key.redact(std::move(error.where));
  error.hint = key.redact(std::move(error.hint));
  return error;
}

Attempt<ModelReply> redacted(Attempt<ModelReply> reply, const Secret& key) {
  if (reply) return redacted(std::move(*reply), key);
  CallFailure failure = reply.error();
  failure.error = redacted(std::move(failure.error), key);
  return failure;
}

}  // namespace kernelsmith::llm
