#include "wire.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kernelsmith::llm {
namespace {

constexpr int kDeepest = 64;
constexpr double kMostTokens = 1e8;  // far beyond any model's context

/// Ten values for each of 200,000 tokens. A value takes up to 120 bytes of memory, and at least two bytes of
/// text.
constexpr std::size_t kMostValues = 2'000'000;

/// Whether brackets outside of strings nest deeper than kDeepest, or there are more than kMostValues values.
/// Deep nesting is refused because nlohmann/json destroys and walks values recursively. The parser's own
/// callback could count, but would cost more than the parsing.
/// Decode.DeepNestingIsRefused, Reply.OfMillionsOfValuesIsRefused
bool is_too_much(std::string_view text) {
  int depth = 0;
  std::size_t values = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i)
          if (text[i] == '\\') ++i;
        break;
      case '[':
      case '{':
        if (++depth > kDeepest || ++values > kMostValues) return true;
        break;
      case ',':
        if (++values > kMostValues) return true;
        break;
      case ']':
      case '}':
        --depth;
        break;
      default:
        break;
    }
  }
  return false;
}

/// The number of an escape such as "\\u1234" at `at`; empty if there is none.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLength = 6;
  if (text.substr(at, 2) != "\\u" || at + kLength > text.size()) return std::nullopt;
  unsigned code = 0;
  const char* const end = text.data() + at + kLength;
  return std::from_chars(text.data() + at + 2, end, code, 16).ptr == end ? std::optional(code) : std::nullopt;
}

bool is_between(const std::optional<unsigned>& code, unsigned first, unsigned last) {
  return code && *code >= first && *code <= last;
}

/// Replaces each unpaired surrogate in JSON by the replacement character, because some servers split a
/// character over two events. Returns empty if there is none.
/// Chat.HalvesOfACharacterAreReplaced
std::string with_whole_characters(std::string_view text) {
  constexpr std::size_t kLength = 6;
  std::string whole;
  std::size_t kept = 0;
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const auto code = escape_at(text, at);
    const bool high = is_between(code, 0xD800, 0xDBFF);
    const bool pair = high && is_between(escape_at(text, at + kLength), 0xDC00, 0xDFFF);
    if (!pair && is_between(code, 0xD800, 0xDFFF)) {
      whole.append(text.substr(kept, at - kept)).append("\\ufffd");
      kept = at + kLength;
    }
    at += pair ? 2 * kLength : 2;
  }
  return kept == 0 ? whole : whole.append(text.substr(kept));
}

bool is_in_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool is_out_of_range(std::string_view number) {
  double value = 0;
  return std::from_chars(number.data(), number.data() + number.size(), value).ec ==
         std::errc::result_out_of_range;
}

/// Replaces invalid numbers in JSON by null: NaN and Infinity, which Python's json writes, and numbers out of
/// range. Returns empty if there are none.
/// Decode.NumbersThatJsonHasNoFormForAreNull
std::string with_finite_numbers(std::string_view text) {
  std::string whole;
  std::size_t kept = 0;
  const auto replace = [&](std::size_t at, std::size_t length) {
    whole.append(text.substr(kept, at - kept)).append("null");
    kept = at + length;
    return kept;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
      ++at;
      continue;
    }
    std::size_t length = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
      if (rest.starts_with(word)) length = word.size();
    if (length > 0) {
      at = replace(at, length);
      continue;
    }
    while (length < rest.size() && is_in_number(rest[length])) ++length;
    at = length > 0 && is_out_of_range(rest.substr(0, length)) ? replace(at, length)
                                                               : at + std::max<std::size_t>(length, 1);
  }
  return kept == 0 ? whole : whole.append(text.substr(kept));
}

bool says_nothing(const Json& value) {
  if (value.is_structured()) return std::ranges::all_of(value, says_nothing);
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || value == false || value == 0;
}

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  if (is_too_much(text)) return std::nullopt;
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded())
    if (const std::string whole = with_whole_characters(text); !whole.empty())
      document = Json::parse(whole, nullptr, false);
  if (document.is_discarded())
    if (const std::string whole = with_finite_numbers(text); !whole.empty())
      document = Json::parse(whole, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

const Json& member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

const Json& error_in(const Json& document) {
  static const Json null;
  const Json& error = member(document, "error");
  return says_nothing(error) ? null : error;
}

const Json& out_of_list(const Json& document) {
  if (!document.is_array() || document.empty()) return document;
  const auto failed =
      std::ranges::find_if(document, [](const Json& one) { return !error_in(one).is_null(); });
  if (failed != document.end()) return *failed;
  return document.size() == 1 ? document.front() : document;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::uint64_t> tokens_at(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= kMostTokens) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::optional<Usage> usage_from(const TokenCounts& counts) {
  if (!counts.input || *counts.input == 0 || !counts.output) return std::nullopt;
  Usage usage;
  usage.input_tokens = *counts.input;
  usage.cached_tokens = std::min(counts.cached.value_or(0), usage.input_tokens);
  usage.cache_write_tokens =
      std::min(counts.cache_write.value_or(0), usage.input_tokens - usage.cached_tokens);
  usage.output_tokens = *counts.output;
  usage.reasoning_tokens = std::min(counts.reasoning.value_or(0), usage.output_tokens);
  return usage;
}

void add_logprobs(const Json& list, TokenTrace& trace) {
  if (!list.is_array()) return;
  for (const Json& entry : list) {
    const Json& token = member(entry, "token");
    const Json& logprob = member(entry, "logprob");
    if (!token.is_string() || !logprob.is_number()) continue;
    trace.tokens.push_back(token.get<std::string>());
    trace.logprobs.push_back(logprob.get<double>());
    if (const Json& id = member(entry, "id"); id.is_number_unsigned())
      trace.token_ids.push_back(id.get<std::uint64_t>());
  }
}

void add_ids(const Json& list, std::vector<std::uint64_t>& ids) {
  if (!list.is_array()) return;
  for (const Json& id : list)
    if (id.is_number_unsigned()) ids.push_back(id.get<std::uint64_t>());
}

std::string printable(std::string_view bytes) {
  std::string result(bytes);
  std::ranges::replace_if(
      result, [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, ' ');
  return result;
}

CallFailure bad_reply(std::string what) {
  return {fail(ErrorCode::bad_reply, "the server's answer " + std::move(what)), true, false, {}};
}

}  // namespace kernelsmith::llm
