#include <algorithm>

#include <kernelsmith/prompts/tokens.hpp>

namespace kernelsmith {
namespace {

// Bytes per token for each kind of run.
constexpr std::size_t kWord = 5;  // lower-case letters, possibly after one capital
constexpr std::size_t kCapitals = 3;
constexpr std::size_t kDigits = 2;
constexpr std::size_t kSameSign = 4;       // a repeated character, such as a ruler
constexpr std::size_t kBlanksOfToken = 8;  // within a line; a single space belongs to the next word
constexpr std::size_t kNotAscii = 2;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_not_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

template <class Is>
std::size_t run(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

struct Run {
  std::size_t bytes, tokens;
};

Run of(std::size_t bytes, std::size_t bytes_a_token) {
  return {bytes, (bytes + bytes_a_token - 1) / bytes_a_token};
}

Run word_at(std::string_view text) {
  const std::size_t capitals = run(text, is_upper);
  const std::size_t letters = run(text.substr(capitals), is_lower);
  if (capitals == 1 || letters == 0) return of(capitals + letters, letters == 0 ? kCapitals : kWord);
  if (capitals == 0) return of(letters, kWord);
  return of(capitals - 1, kCapitals);  // the last capital begins the next word
}

Run run_at(std::string_view text) {
  const char first = text.front();
  if (is_upper(first) || is_lower(first)) return word_at(text);
  if (is_digit(first)) return of(run(text, is_digit), kDigits);
  if (is_not_ascii(first)) return of(run(text, is_not_ascii), kNotAscii);
  if (first == '\n') return {1 + run(text.substr(1), is_blank), 1};
  if (is_blank(first)) {
    const std::size_t bytes = run(text, is_blank);
    return bytes == 1 ? Run{1, 0} : of(bytes, kBlanksOfToken);
  }
  return of(run(text, [first](char c) { return c == first; }), kSameSign);
}

}  // namespace

std::size_t estimate_tokens(std::string_view text) {
  std::size_t tokens = 0;
  while (!text.empty()) {
    const Run next = run_at(text);
    tokens += next.tokens;
    text.remove_prefix(next.bytes);
  }
  return tokens;
}

std::size_t estimate_tokens(const Source& source) {
  std::size_t tokens = 0;
  for (const SourceFile& file : source.files()) tokens += estimate_tokens(file.text);
  return tokens;
}

}  // namespace kernelsmith
