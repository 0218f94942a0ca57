// Reads SEARCH/REPLACE edits; edit.cpp applies them.
#include <algorithm>
#include <optional>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith {
namespace {

using Lines = std::vector<std::string_view>;

// Models vary the number of signs. Git's markers have seven.
constexpr std::size_t kFewestSigns = 5;
constexpr std::size_t kUsualSigns = 7;

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The same sign, such as `<`, five times or more, followed by a word.
struct MarkerAt {
  std::size_t begin = 0;  // offset in its line
  std::size_t signs = 0;
  std::string_view rest;  // rest of the line after the word and a colon, without blanks around it
};

std::optional<MarkerAt> marker_at(std::string_view line, std::size_t begin, char sign,
                                  std::string_view word) {
  const std::size_t signs = std::min(line.find_first_not_of(sign, begin), line.size()) - begin;
  if (signs < kFewestSigns) return std::nullopt;
  std::string_view text = trimmed(line.substr(begin + signs));
  if (!same_but_for_case(text.substr(0, word.size()), word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (!text.empty() && detail::is_word(text.front())) return std::nullopt;
  if (text.starts_with(':')) text.remove_prefix(1);
  return MarkerAt{begin, signs, trimmed(text)};
}

// Finds `<<<<<<< SEARCH`, alone or followed by other text.
std::optional<MarkerAt> begin_of(std::string_view line) {
  return marker_at(line, std::min(line.find_first_not_of(" \t"), line.size()), '<', "SEARCH");
}

bool parts_edit(std::string_view line) {
  line = trimmed(line);
  return line.size() >= kFewestSigns && line.find_first_not_of('=') == line.npos;
}

// Finds `>>>>>>> REPLACE`, even if it is glued to the replacement's last line, to the end of a fence or to
// the next edit. Code that ends in `>` looks like a marker with more signs than usual.
std::optional<MarkerAt> end_of(std::string_view line) {
  const std::size_t begin = line.find(std::string(kFewestSigns, '>'));
  const auto marker = begin == line.npos ? std::nullopt : marker_at(line, begin, '>', "REPLACE");
  if (!marker || trimmed(line.substr(0, begin)).empty()) return marker;
  const bool ends = marker->rest.empty() || marker->rest.find_first_not_of("`~") == marker->rest.npos ||
                    begin_of(marker->rest);
  return ends && marker->signs == kUsualSigns ? marker : std::nullopt;
}

// The file name, such as `src/kernel.cpp`, that may follow SEARCH; it may be in quotes or brackets.
std::optional<std::string> path_in(std::string_view rest) {
  constexpr std::string_view kAround = "`'\"()[]*:";
  while (!rest.empty() && kAround.find(rest.front()) != kAround.npos) rest.remove_prefix(1);
  while (!rest.empty() && kAround.find(rest.back()) != kAround.npos) rest.remove_suffix(1);
  const bool is_path =
      rest.find_first_of(" \t;(){}=<>") == rest.npos && rest.find_first_of("./") != rest.npos;
  return rest.empty() || is_path ? std::optional(std::string(rest)) : std::nullopt;
}

std::string joined(const Lines& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text.append(without_newline(lines[i])).push_back('\n');
  return text;
}

// The lines of the text. An edit that begins directly after the end of another gets its own line.
Lines lines_with_edits(std::string_view text) {
  Lines lines;
  for (const std::string_view line : lines_of(text)) {
    const auto end = end_of(line);
    const std::size_t next = end ? line.find('<', end->begin) : line.npos;
    if (next != line.npos && begin_of(line.substr(next))) {
      lines.push_back(line.substr(0, next));
      lines.push_back(line.substr(next));
    } else {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

bool holds_edits(std::string_view text) {
  return std::ranges::any_of(lines_with_edits(text),
                             [](std::string_view line) { return begin_of(line).has_value(); });
}

Result<std::vector<Edit>> parse_edits(std::string_view text) {
  const Lines lines = lines_with_edits(text);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0, number = 1; i < lines.size(); number += lines[i++].ends_with('\n'))
    numbers.push_back(number);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto begin = begin_of(lines[i]);
    if (!begin) continue;
    const std::size_t start = i;
    const auto next = [&](auto is_wanted) {
      ++i;
      while (i < lines.size() && !is_wanted(lines[i]) && !begin_of(lines[i])) ++i;
      return i < lines.size() && is_wanted(lines[i]);
    };
    const std::size_t number = numbers[start];
    const auto broken = [&](const std::string& what) {
      return fail(ErrorCode::bad_input, "edit " + std::to_string(edits.size() + 1) + " " + what,
                  "line " + std::to_string(number));
    };
    const auto path = path_in(begin->rest);
    if (!path)
      return broken("has `" + std::string(begin->rest.substr(0, 80)) +
                    "` on the line of its <<<<<<< SEARCH, which is no file's name");
    if (!next(parts_edit)) return broken("is without its =======");
    const std::size_t middle = i;
    if (!next(end_of)) return broken("is without its >>>>>>> REPLACE");
    // Some models write the divider twice, at both ends of the replacement.
    const auto is_divider = [&](std::size_t at) { return trimmed(lines[at]) == trimmed(lines[middle]); };
    std::size_t first = middle + 1, end = i;
    while (first < end && is_divider(first)) ++first;
    while (first < end && is_divider(end - 1)) --end;
    std::string replacement = joined(lines, first, end);
    const std::string_view last = lines[i].substr(0, end_of(lines[i])->begin);
    if (!trimmed(last).empty())
      replacement.append(last.substr(0, last.find_last_not_of(" \t") + 1)).push_back('\n');
    edits.push_back({joined(lines, start + 1, middle), std::move(replacement), number, *path});
  }
  return edits;
}

}  // namespace kernelsmith
