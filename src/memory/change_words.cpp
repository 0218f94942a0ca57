#include "change_words.hpp"

#include <algorithm>

#include <kernelsmith/code/text.hpp>

namespace kernelsmith::memory {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void add_words(std::string_view line, std::set<std::string>& words) {
  for (auto begin = line.begin();;) {
    begin = std::find_if(begin, line.end(), in_word);
    if (begin == line.end()) return;
    const auto end = std::find_if_not(begin, line.end(), in_word);
    words.emplace(begin, end);
    begin = end;
  }
}

}  // namespace

std::set<std::string> words_brought_in(std::string_view diff) {
  std::set<std::string> added, removed;
  for (const std::string_view line : lines_of(diff)) {
    if (line.starts_with("+++ ") || line.starts_with("--- ")) continue;  // the files' names
    if (line.starts_with('+')) add_words(line, added);
    if (line.starts_with('-')) add_words(line, removed);
  }
  std::erase_if(added, [&](const std::string& word) { return removed.contains(word); });
  return added;
}

bool follows(const std::set<std::string>& words, const std::set<std::string>& rule) {
  const auto done =
      std::ranges::count_if(rule, [&](const std::string& word) { return words.contains(word); });
  return !rule.empty() && 2 * static_cast<std::size_t>(done) >= rule.size();
}

}  // namespace kernelsmith::memory
