// Reads the replies of our Python programs as JSON values.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/evaluator/python_process/python_process.hpp>

namespace kernelsmith::python_process {

using Json = nlohmann::json;

/// The value of the text. Null if the text is not JSON, or nests deeper than any honest text.
inline Json parse_untrusted(std::string_view text) {
  if (nests_too_deep(text)) return {};
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : parsed;
}

/// The member with that key; null if there is none.
inline const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

/// The string at `key` with control bytes escaped; empty if there is none.
inline std::string text_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? escape_controls(value.get_ref<const std::string&>()) : "";
}

}  // namespace kernelsmith::python_process
