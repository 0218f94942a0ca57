#include "literals.hpp"

#include <algorithm>
#include <string>

#include "characters.hpp"

namespace kernelsmith::detail {

std::size_t splice_length(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '\\') return 0;
  std::size_t end = at + 1;
  while (end < text.size() && is_blank(text[end])) ++end;
  return end < text.size() && text[end] == '\n' ? end + 1 - at : 0;
}

Extent quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size();) {
    if (text[i] == quote) return {i + 1, true};
    if (text[i] == '\n') return {i, false};
    if (const std::size_t splice = splice_length(text, i)) {
      i += splice;
    } else {
      i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n' ? 2 : 1;
    }
  }
  return {text.size(), false};
}

Extent triple_quoted(std::string_view text, std::size_t at) {
  const std::string_view quotes = text.substr(at, 3);
  for (std::size_t i = at + 3; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i, 3) == quotes) {
      return {i + 3, true};
    }
  }
  return {text.size(), false};
}

Extent raw_string(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestDelimiter = 16;  // [lex.string]
  const std::size_t open = text.find_first_of("(\\) \t\v\f\n\r\"", at + 1);
  if (open == text.npos || text[open] != '(' || open - at - 1 > kLongestDelimiter)
    return {text.size(), false};
  std::string closing = ")";
  closing.append(text.substr(at + 1, open - at - 1)).push_back('"');
  const std::size_t close = text.find(closing, open);
  if (close == text.npos) return {text.size(), false};
  return {close + closing.size(), true};
}

Extent block_comment(std::string_view text, std::size_t at) {
  for (std::size_t star = text.find('*', at + 2); star != text.npos; star = text.find('*', star + 1)) {
    std::size_t next = star + 1;
    while (const std::size_t splice = splice_length(text, next)) next += splice;
    if (next < text.size() && text[next] == '/') return {next + 1, true};
  }
  return {text.size(), false};
}

std::size_t line_comment(std::string_view text, std::size_t at, bool splices) {
  std::size_t end = std::min(text.find('\n', at), text.size());
  while (splices && end < text.size()) {
    std::size_t last = end;
    while (last > at && is_blank(text[last - 1])) --last;
    if (last == at || text[last - 1] != '\\') break;
    end = std::min(text.find('\n', end + 1), text.size());
  }
  return end > at && text[end - 1] == '\r' ? end - 1 : end;
}

std::size_t identifier(std::string_view text, std::size_t at, bool dollars) {
  while (at < text.size() && (is_word(text[at]) || (dollars && text[at] == '$'))) ++at;
  return at;
}

std::size_t number(std::string_view text, std::size_t at, bool quotes) {
  while (at < text.size()) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-')) {
      at += 2;
    } else if (is_word(c) || c == '.') {
      ++at;
    } else if (quotes && c == '\'' && is_word(next)) {
      at += 2;
    } else {
      break;
    }
  }
  return at;
}

bool f_string_is_flat(std::string_view token) {
  const std::size_t first = token.find_first_of("'\"");
  const char quote = token[first];
  const std::size_t width = token.substr(first, 3) == std::string(3, quote) ? 3 : 1;
  std::size_t open = 0;
  for (std::size_t i = first + width; i + width < token.size(); ++i) {
    const char c = token[i];
    if (open == 0 && (c == '{' || c == '}') && token[i + 1] == c) {
      ++i;  // a doubled brace is text
    } else if (c == '{') {
      ++open;
    } else if (c == '}' && open > 0) {
      --open;
    } else if (open > 0 && (c == '\'' || c == '"')) {
      return false;
    }
  }
  return open == 0;
}

}  // namespace kernelsmith::detail
