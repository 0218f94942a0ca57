#include "fences.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith::detail {
Language language_of_tag(const std::string& tag) {
  if (tag == "python" || tag == "python3" || tag == "triton") return Language::python;
  if (tag == "c++" || tag == "cuda") return Language::cuda;
  return language_of(tag.find('.') == tag.npos ? "a." + tag : tag);
}

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kFewestSigns = 3;

// The number of fence signs at the beginning of the line; 0 if it is not a fence.
std::size_t fence_length(std::string_view line) {
  if (!line.starts_with('`') && !line.starts_with('~')) return 0;
  const std::size_t length = std::min(line.find_first_not_of(line.front()), line.size());
  return length >= kFewestSigns ? length : 0;
}

std::string_view info_of(std::string_view opening) { return trimmed(opening.substr(fence_length(opening))); }

// Whether a line opens a fence. A line of prose may begin with inline code: "```x``` is the name".
bool opens(std::string_view line) {
  const std::size_t length = fence_length(line);
  return length > 0 && line.find('`', length) == line.npos;
}

// Whether `text` is the sign of a list's item: `-`, `*`, `+`, `1.` or `12)`.
bool is_bullet(std::string_view text) {
  if (text == "-" || text == "*" || text == "+") return true;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && digits + 1 == text.size() && (text.back() == '.' || text.back() == ')');
}

// The position of a fence that opens at the end of a line with other text; 0 if there is none. After prose a
// fence needs a tag (or a colon before it); after a list's item it does not. `it ends with ``` ` opens
// nothing.
std::size_t fence_behind_text(std::string_view line) {
  const std::size_t at = line.find("```");
  if (at == line.npos || at == 0) return 0;
  const std::string_view before = trimmed(line.substr(0, at)), info = info_of(line.substr(at));
  const bool announced = before.ends_with(':') || before.ends_with('>') || is_bullet(before);
  const bool is_quoted = before.find_first_not_of("> ") == before.npos;  // so are the lines of its code
  return !is_quoted && (!info.empty() || announced) ? at : 0;
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
    if (!word.empty()) words.emplace_back(word);
    begin = line.find_first_not_of(kAround, end);
  }
  return words;
}

// A name with the ending of a program; in a fence's tag also one with "..".
// Extract.RefusesForeignPathsWhereThereAreSeveralFiles
bool looks_like_path(std::string_view word, bool in_tag) {
  const std::size_t name = word.rfind('/') == word.npos ? 0 : word.rfind('/') + 1;
  return (word.find('.', name) != word.npos && language_of(word) != Language::other) ||
         (in_tag && word.starts_with('/'));
}

bool is_label(std::string_view word) {
  constexpr std::array kLabels{"file"sv, "filename"sv, "path"sv, "//"sv};
  return std::ranges::find(kLabels, lower_case(word)) != kLabels.end();
}

// A line names a file only if it has no other text or begins with a label.
bool is_about_a_file(const std::vector<std::string>& words) {
  return words.size() == 1 || (words.size() == 2 && is_label(words.front()));
}

std::string path_in(const std::vector<std::string>& words, const std::vector<std::string>& known,
                    bool take_others, bool in_tag) {
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) != known.end()) return word;
  }
  const auto other =
      std::ranges::find_if(words, [&](const auto& word) { return looks_like_path(word, in_tag); });
  return take_others && other != words.end() ? *other : std::string();
}

bool is_markdown(std::string_view info) { return info == "markdown"; }

std::size_t blanks_before(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool is_comment(std::string_view line) {
  return line.starts_with("//") || line.starts_with("#") || line.starts_with("/*");
}

bool is_language_word(std::string_view word) {
  return word.find('.') == word.npos && language_of_tag(std::string(word)) != Language::other;
}

// Whether a docstring is open after a line; `open` says whether one was open before it.
bool in_docstring(std::string_view line, bool open) {
  constexpr auto kQuote = "\"\"\""sv;
  for (auto at = line.find(kQuote); at != line.npos; at = line.find(kQuote, at + kQuote.size())) open = !open;
  return open;
}

}  // namespace

FenceTracker::Line FenceTracker::pass(std::string_view line) {
  const std::string_view bare = trimmed(line);
  if (opening_.empty()) {
    if (!opens(bare)) return Line::outside;
    opening_ = bare;
    in_docstring_ = false;
    return Line::opening;
  }
  if (quoted_) {
    const bool was_quoted = in_docstring_;
    in_docstring_ = in_docstring(line, was_quoted);
    if (was_quoted) return Line::inside;
  }
  if (!closes(bare, opening_)) return Line::inside;
  opening_.clear();
  return Line::closing;
}

namespace {

// Removes text around the code in a fence: another fence, a language's name.
void unwrap(Fence& fence) {
  bool wrapped = false;
  for (;;) {
    const std::size_t begin = fence.text.find_first_not_of(" \t\n");
    if (begin == std::string::npos) break;
    const std::string_view first = trimmed(lines_of(std::string_view(fence.text).substr(begin)).front());
    const bool opening = opens(first) && !info_of(first).empty();
    if (!opening && !is_language_word(first)) break;
    wrapped = wrapped || opening;
    fence.text.erase(0, std::min(fence.text.find('\n', begin), fence.text.size() - 1) + 1);
  }
  const auto lines = lines_of(fence.text);
  const auto last =
      std::ranges::find_if(lines.rbegin(), lines.rend(), [](auto line) { return !trimmed(line).empty(); });
  if (last == lines.rend()) return;
  const std::string_view bare = trimmed(*last);
  const bool closing =
      bare == "``" ||
      (opens(bare) && (is_language_word(info_of(bare)) || (wrapped && info_of(bare).empty())));
  if (closing) fence.text.resize(static_cast<std::size_t>(last->data() - fence.text.data()));
}

std::vector<Fence> scan(std::string_view reply, bool quoted) {
  std::vector<Fence> fences;
  FenceTracker tracker(quoted);
  std::string_view before;
  std::size_t indent = 0;
  bool is_first = false;  // the fence had only blank lines so far
  for (const std::string_view line : lines_of(reply)) {
    const std::string_view bare = trimmed(line);
    switch (tracker.pass(line)) {
      case FenceTracker::Line::outside:
        if (!bare.empty()) before = bare;
        break;
      case FenceTracker::Line::opening:
        indent = blanks_before(line);
        is_first = true;
        fences.push_back({std::string(info_of(bare)), std::string(before), {}, false});
        break;
      case FenceTracker::Line::closing:
        fences.back().closed = true;
        before = {};
        break;
      case FenceTracker::Line::inside:
        // A text that is less indented than its fence is unchanged.
        if (is_first && !bare.empty()) indent = std::min(indent, blanks_before(line));
        is_first = is_first && bare.empty();
        fences.back()
            .text.append(without_newline(line.substr(std::min(indent, blanks_before(line)))))
            .push_back('\n');
        break;
    }
  }
  return fences;
}

}  // namespace

std::vector<Fence> find_fences(std::string_view reply) {
  std::vector<Fence> fences;
  auto outer = scan(reply, true);
  // Signs that only look like an open docstring may hide a fence's end.
  if (!outer.empty() && !outer.back().closed) outer = scan(reply, false);
  for (Fence& fence : outer) {
    auto inner = is_markdown(fence.info) ? scan(fence.text, false) : std::vector<Fence>{};
    if (inner.empty()) {
      if (!is_markdown(fence.info)) unwrap(fence);
      fences.push_back(std::move(fence));
    } else {  // an answer that is completely wrapped
      if (!fence.closed) inner.back().closed = false;
      std::ranges::move(inner, std::back_inserter(fences));
    }
  }
  return fences;
}

namespace {

// The position of a fence's end after code on its line, or before a tag ("}```", "```</answer>"); npos if
// there is none.
std::size_t glued_end(std::string_view line) {
  const std::size_t at = line.find("```");
  if (at == line.npos) return at;
  const bool follows = !trimmed(line.substr(0, at)).empty();
  const std::string_view behind = trimmed(line.substr(at + kFewestSigns));
  return (follows && behind.empty()) || behind.starts_with('<') ? at : line.npos;
}

// Moves fences that open at a line's end to lines of their own; with `ends`, also fences that close there.
// Empty if there are none, or if not all fences are closed afterwards.
std::optional<std::string> with_parted_lines(std::string_view reply, bool ends) {
  const auto is_end = [&](std::string_view line) { return ends && glued_end(line) != line.npos; };
  std::string result;
  bool any = false;
  FenceTracker tracker;
  for (const std::string_view line : lines_of(reply)) {
    if (tracker.inside() && is_end(line)) {
      const std::size_t at = glued_end(line);
      const std::string_view code = line.substr(0, at);
      tracker.pass("```");
      result.append(code).append(trimmed(code).empty() ? "" : "\n").append("```\n");
      result.append(line.substr(at + kFewestSigns));
      continue;
    }
    const std::size_t at = tracker.inside() ? 0 : fence_behind_text(line);
    if (at == 0) {
      any = tracker.pass(line) == FenceTracker::Line::opening || any;
      result += line;
      continue;
    }
    any = true;
    const std::string_view before = line.substr(0, at), fence = line.substr(at);
    tracker.pass(fence);
    result.append(before).append("\n").append(at, ' ').append(
        fence);  // a list's code is indented with its item
  }
  return tracker.inside() || !any ? std::nullopt : std::optional(result);
}

}  // namespace

std::string with_fences_on_own_lines(std::string_view reply) {
  for (const bool ends : {false, true})
    if (auto parted = with_parted_lines(reply, ends)) return *parted;
  return std::string(reply);  // a line about fences, or a reply that breaks off
}

bool names_in_first_line(std::string_view text, const std::string& path) {
  const auto lines = lines_of(text);
  if (lines.empty() || (!is_comment(trimmed(lines.front())) && trimmed(lines.front()) != path)) return false;
  auto words = words_of(lines.front());
  std::erase_if(words, [](const std::string& word) { return word == "/" || is_label(word); });
  return words == std::vector{path};
}

std::string path_of(const Fence& fence, const std::vector<std::string>& known) {
  std::string path = path_in(words_of(fence.info), known, true, true);
  if (!path.empty()) return path;
  const auto words = words_of(fence.before);
  path = path_in(words, known, is_about_a_file(words), false);
  if (!path.empty()) return path;
  const auto inside = std::ranges::find_if(
      known, [&](const std::string& one) { return names_in_first_line(fence.text, one); });
  return inside == known.end() ? std::string() : *inside;
}

}  // namespace kernelsmith::detail
