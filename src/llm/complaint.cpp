#include "complaint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>

namespace kernelsmith::llm {
namespace {

/// How many bytes of an error are searched for words that identify it. Only a few hundred are shown.
constexpr std::size_t kEnough = 4000;
constexpr int kFirstError = 400, kBehindErrors = 600;
constexpr std::ptrdiff_t kMostListed = 100;  // reads only the first items, because a list may have millions

constexpr std::array kNames{"type", "code", "status", "error_type", "error_code"};
constexpr std::array kNumbers{"code", "status", "status_code", "statusCode", "error_code"};
/// The keys of messages, in the order in which their texts are shown: those of OpenAI and Anthropic, FastAPI,
/// OAuth, RFC 9457 and MiniMax.
constexpr std::array kWords{"message", "msg",    "detail", "error_description", "title",   "status_msg",
                            "error",   "errors", "raw",    "metadata",          "reasons", "base_resp"};

void append(std::string& text, std::string_view more, std::string_view between) {
  if (more.empty() || text.size() > kEnough || text.find(more) != text.npos) return;
  if (!text.empty()) text += between;
  text += more;
}

/// The status at `key`, which is a number or a string of digits; 0 for any other value.
int status_at(const Json& object, const char* key) {
  int status = 0;
  if (const auto number = tokens_at(object, key)) {
    status = *number < kBehindErrors ? static_cast<int>(*number) : 0;
  } else {
    const std::string digits = text_at(object, key);
    const char* const end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, status).ptr != end) status = 0;
  }
  return status >= kFirstError && status < kBehindErrors ? status : 0;
}

/// FastAPI's path to the invalid part of a request: "body.messages: ".
std::string place_in_request(const Json& object) {
  std::string place;
  if (const Json& names = member(object, "loc"); names.is_array())
    for (const Json& name : names)
      append(place, name.is_string() ? name.get<std::string>() : name.dump(), ".");
  return place.empty() ? place : place + ": ";
}

void collect(const Json& answer, Complaint& complaint);

/// Adds a string. The string may be a quoted answer: gateways quote that of their upstream server.
void collect_string(const std::string& text, Complaint& complaint) {
  if (text.starts_with('{') || text.starts_with('['))
    if (const auto quoted = parse_json(text)) {
      Complaint inner;
      collect(*quoted, inner);
      if (!inner.message.empty()) {
        append(complaint.kind, inner.kind, " ");
        append(complaint.message, inner.message, ": ");
        if (complaint.status == 0) complaint.status = inner.status;
        return;
      }
    }
  append(complaint.message, text, ": ");
}

void collect_object(const Json& object, Complaint& complaint) {
  for (const char* key : kNames) append(complaint.kind, text_at(object, key), " ");
  for (const char* key : kNumbers)
    if (complaint.status == 0) complaint.status = status_at(object, key);
  const std::string place = place_in_request(object);
  for (const char* key : kWords) {
    const Json& words = member(object, key);
    if (words.is_string())
      collect_string(place + words.get<std::string>(), complaint);
    else
      collect(words, complaint);
  }
}

void collect(const Json& answer, Complaint& complaint) {
  if (answer.is_string()) collect_string(answer.get<std::string>(), complaint);
  if (answer.is_object()) collect_object(answer, complaint);
  if (!answer.is_array()) return;
  const auto listed = std::min(kMostListed, std::distance(answer.begin(), answer.end()));
  std::for_each(answer.begin(), answer.begin() + listed, [&](const Json& one) { collect(one, complaint); });
}

void flatten(const Json& value, std::string_view name, std::string& text) {
  if (text.size() > kEnough || value.is_null()) return;
  if (value.is_structured()) {
    for (const auto& [key, one] : value.items()) flatten(one, value.is_object() ? key : name, text);
    return;
  }
  if (!text.empty()) text += ", ";
  if (!name.empty()) text.append(name).append(": ");
  text += value.is_string() ? value.get<std::string>() : value.dump();
}

bool says(const Json& object, const char* key, std::string_view word) {
  const Json& value = member(object, key);
  return value.is_string() && value.get_ref<const std::string&>() == word;
}

}  // namespace

Complaint complaint_in(const Json& answer) {
  Complaint complaint;
  collect(answer, complaint);
  return complaint;
}

std::string flat_text(const Json& document) {
  std::string text;
  flatten(document, "", text);
  return text;
}

bool is_error(const Json& document) {
  return !error_in(document).is_null() || says(document, "type", "error") ||
         says(document, "object", "error") || member(document, "success") == false;
}

bool complains(const Json& document) {
  return is_error(document) || (document.is_object() && !complaint_in(document).message.empty());
}

}  // namespace kernelsmith::llm
