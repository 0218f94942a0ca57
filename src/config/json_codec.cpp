#include "json_codec.hpp"

#include <algorithm>

namespace kernelsmith::detail {

std::string JsonPath::text() const {
  const std::string before = parent ? parent->text() : std::string();
  if (!parent) return before;
  if (key.empty()) return before + "[" + std::to_string(index) + "]";
  return before.empty() ? std::string(key) : before + "." + std::string(key);
}

void refuse(const JsonPath& path, std::string message, std::string hint) {
  throw JsonRefusal{std::move(message), path.text(), std::move(hint)};
}

void refuse_type(const JsonPath& path, std::string_view expected, const Json& found) {
  constexpr std::size_t kLongestShown = 40;
  std::string shown = found.is_structured() ? std::string(found.type_name())
                                            : found.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (shown.size() > kLongestShown) shown = shown.substr(0, kLongestShown) + "...";
  refuse(path, "expected " + std::string(expected) + ", found " + shown);
}

std::string encode_text(std::string_view bytes) {
  if (is_utf8(bytes) && !bytes.starts_with(kBase64Mark)) return std::string(bytes);
  return std::string(kBase64Mark) + base64_encode(bytes);
}

std::string decode_text(const std::string& text, const JsonPath& path) {
  if (!text.starts_with(kBase64Mark)) return text;
  auto bytes = base64_decode(std::string_view(text).substr(kBase64Mark.size()));
  if (!bytes) refuse(path, "what follows 'base64:' is not base64");
  return std::move(*bytes);
}

ObjectReader::ObjectReader(const Json& object, const JsonPath& path) : object_(object), path_(path) {
  if (!object.is_object()) refuse_type(path, "an object", object);
}

const Json* ObjectReader::find(const char* key) {
  known_.emplace_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void ObjectReader::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    refuse(path_, "unknown key '" + key + "'", name_hint(key, known_));
  }
}

}  // namespace kernelsmith::detail
