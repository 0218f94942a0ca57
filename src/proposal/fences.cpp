#include "fences.hpp"

#include <algorithm>
#include <array>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kFewestSigns = 3;

// How many fence signs the line begins with; 0 where it is no fence.
std::size_t fence_length(std::string_view line) {
  if (!line.starts_with('`') && !line.starts_with('~')) return 0;
  const std::size_t length = std::min(line.find_first_not_of(line.front()), line.size());
  return length >= kFewestSigns ? length : 0;
}

// A line of prose may begin with inline code: "```x``` is the name".
bool opens(std::string_view line) {
  const std::size_t length = fence_length(line);
  return length > 0 && line.find('`', length) == line.npos;
}

bool closes(std::string_view line, std::string_view opening) {
  const std::size_t length = fence_length(line);
  return length >= fence_length(opening) && length == line.size() && line.front() == opening.front();
}

// The words of a line without the signs that prose puts around names.
std::vector<std::string> words_of(std::string_view line) {
  constexpr auto kAround = " \t\r\n*`'\"(){}[]<>:=,;#"sv;
  std::vector<std::string> words;
  for (std::size_t begin = line.find_first_not_of(kAround); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kAround, begin), line.size());
    std::string_view word = line.substr(begin, end - begin);
    if (word.starts_with("./")) word.remove_prefix(2);
    if (word.ends_with('.')) word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
    begin = line.find_first_not_of(kAround, end);
  }
  return words;
}

bool looks_like_path(std::string_view word) {
  const bool climbs = word.starts_with('/') || word.find("..") != word.npos || word.find('\\') != word.npos;
  const std::size_t name = word.rfind('/') == word.npos ? 0 : word.rfind('/') + 1;
  const bool has_stem = word.find('.', name) > name;
  return climbs ? word.find_first_not_of("./\\") != word.npos
                : has_stem && language_of(word) != Language::other;
}

// Only a line that holds nothing else, or begins with a label, names a file by the way.
bool is_about_a_file(const std::vector<std::string>& words) {
  constexpr std::array kLabels{"File"sv, "file"sv, "Filename"sv, "filename"sv, "Path"sv, "path"sv, "//"sv};
  return words.size() == 1 ||
         (words.size() == 2 && std::ranges::find(kLabels, words.front()) != kLabels.end());
}

std::string path_in(const std::vector<std::string>& words, const std::vector<std::string>& known,
                    bool take_others) {
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) != known.end()) return word;
  }
  const auto other = take_others ? std::ranges::find_if(words, looks_like_path) : words.end();
  return other == words.end() ? std::string() : *other;
}

}  // namespace

std::vector<Fence> find_fences(std::string_view reply) {
  std::vector<Fence> fences;
  std::string_view opening;
  std::string_view before;
  for (const std::string_view line : lines_of(reply)) {
    const std::string_view bare = trimmed(line);
    if (opening.empty() && opens(bare)) {
      opening = bare;
      fences.push_back(
          {std::string(trimmed(bare.substr(fence_length(bare)))), std::string(before), {}, false});
    } else if (opening.empty()) {
      if (!bare.empty()) before = bare;
    } else if (closes(bare, opening)) {
      fences.back().closed = true;
      opening = before = {};
    } else {
      fences.back().text.append(without_newline(line)).push_back('\n');
    }
  }
  return fences;
}

std::string path_of(const Fence& fence, const std::vector<std::string>& known) {
  std::string path = path_in(words_of(fence.info), known, true);
  if (!path.empty()) return path;
  const auto words = words_of(fence.before);
  return path_in(words, known, is_about_a_file(words));
}

}  // namespace kernelsmith::detail
