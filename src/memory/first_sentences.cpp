#include "first_sentences.hpp"

#include <algorithm>

#include <kernelsmith/code/text.hpp>

namespace kernelsmith::memory {
namespace {

constexpr std::size_t kLongest = 400, kSentences = 2;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// The end of the first sentence of `text`. A full stop within a word, as in "1.5", does not end it.
std::size_t end_of_sentence(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (is_end && (i + 1 == text.size() || is_blank(text[i + 1]))) return i + 1;
  }
  return text.size();
}

}  // namespace

std::string first_sentences(std::string_view reply) {
  std::string_view prose = reply.substr(0, std::min(reply.find("```"), reply.find("<<<<<<<")));
  prose = trimmed(prose);
  std::size_t end = 0;
  for (std::size_t i = 0; i < kSentences; ++i) end += end_of_sentence(prose.substr(end));
  prose = prose.substr(0, end);
  if (prose.size() > kLongest || prose.find_first_of("<`") != std::string_view::npos) return {};
  std::string line(prose);
  std::ranges::replace_if(line, is_blank, ' ');
  return line;
}

}  // namespace kernelsmith::memory
