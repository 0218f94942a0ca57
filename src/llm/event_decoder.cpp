#include "event_decoder.hpp"

#include <algorithm>

#include "complaint.hpp"

namespace kernelsmith::llm {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

}  // namespace

Attempt<void> EventDecoder::take(std::string_view event, std::string_view data) {
  data = trimmed(data);
  if (data.empty() && event != "error") return {};
  if (data == "[DONE]") {
    take_done();
    return {};
  }
  const auto parsed = parse_json(data);
  if (!parsed) {
    if (data.starts_with('{') || data.starts_with("[{"))
      return bad_reply("has an event that is not a JSON object in UTF-8");
    const Json text(printable(data));
    if (event == "error") return failure_of(text, 0);
    put_aside(text);
    return {};
  }
  const Json& document = out_of_list(*parsed);
  if (event == "error") return failure_of(document, 0);
  if (document.is_array() && !document.empty()) return bad_reply("has an event that is a list");
  if (!document.is_object()) return {};
  if (is_error(document)) return failure_of(document, 0);
  const std::string type = text_at(document, "type");
  return take_document(type.empty() ? std::string(event) : type, document);
}

void EventDecoder::put_aside(const Json& document) {
  // An error replaces an earlier text such as "ping", because it says more.
  if (document.is_string() ? aside_.is_null() : !aside_.is_object() && complains(document)) aside_ = document;
}

CallFailure EventDecoder::without_reply(const std::string& what) const {
  if (aside_.is_string()) {
    const auto& text = aside_.get_ref<const std::string&>();
    return no_reply(text, bad_reply(what + "; it says: " + text));
  }
  return aside_.is_null() ? bad_reply(what) : failure_of(aside_, 0);
}

}  // namespace kernelsmith::llm
