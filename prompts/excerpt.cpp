#include "excerpt.hpp"

#include <algorithm>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::detail {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Whether it is part of a word: a letter, a digit, an underscore, or any byte of a character beyond ASCII.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = bytes.front() == '\0' ? 0 : utf8_length(bytes);
    text += length > 0 ? bytes.substr(0, length) : kReplacement;
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string tail_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t cut = text.size() - bytes;
  const std::size_t newline = text.find('\n', cut - 1);
  if (newline != text.npos && newline + 1 < text.size()) {
    cut = newline + 1;
  } else {
    while (cut < text.size() && in_word(text[cut]) && in_word(text[cut - 1])) ++cut;
  }
  return "[" + std::to_string(cut) + " bytes before this are left out]\n" + std::string(text.substr(cut));
}

std::string fenced(std::string_view text, std::string_view info) {
  std::size_t longest = 2, length = 0;
  for (const char c : text) {
    length = c == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  const std::string fence(longest + 1, '`');
  std::string block = fence + std::string(info) + "\n" + std::string(text);
  if (!block.ends_with('\n')) block += '\n';
  return block + fence;
}

}  // namespace kernelsmith::detail
