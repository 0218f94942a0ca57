#include "wire.hpp"

#include <algorithm>

namespace kernelsmith::llm {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kQuotedBytes = 400;

/// Ends the parser where the nesting grows too deep: nlohmann/json destroys and walks values recursively.
struct TooDeep {};

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  try {
    return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) throw TooDeep{};
      return true;
    });
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const TooDeep&) {
    return std::nullopt;
  }
}

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::uint64_t count_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string excerpt(std::string_view text) {
  std::size_t end = text.size();
  if (end > kQuotedBytes) {
    end = kQuotedBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // keep characters whole
  }
  std::string result(text.substr(0, end));
  std::ranges::replace_if(
      result, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  if (end < text.size()) result += "...";
  return result;
}

std::string printable(std::string_view bytes) {
  std::string result(bytes.substr(0, 2 * kQuotedBytes));
  std::ranges::replace_if(
      result, [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return result;
}

CallFailure bad_reply(std::string what) {
  return {fail(ErrorCode::bad_reply, "the server's answer " + std::move(what)), true, false, {}};
}

}  // namespace kernelsmith::llm
