#include "excerpt.hpp"

#include <algorithm>

namespace kernelsmith::detail {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The length of the character that `text` begins with; 0 if it begins with none (RFC 3629).
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), continues)) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

/// Part of a word: a letter, a digit, an underscore, or any byte of a character beyond ASCII.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = character_at(bytes);
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
