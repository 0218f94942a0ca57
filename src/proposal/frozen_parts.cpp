#include "frozen_parts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <kernelsmith/code/text.hpp>

#include "names.hpp"
#include "refuse.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

Lines filled_lines(std::string_view text) {
  Lines lines;
  for (const std::string_view line : lines_of(text)) {
    const auto begin = static_cast<std::size_t>(line.data() - text.data());
    std::string bare = without_blanks(line);
    if (bare.empty()) continue;
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    lines.push_back({std::move(bare), std::string(trimmed(line)), is_indented, begin, begin + line.size()});
  }
  return lines;
}

/// Whether `lines` contains `part` at `at`.
bool stands_at(const Lines& lines, std::size_t at, const Lines& part) {
  return at + part.size() <= lines.size() &&
         std::ranges::equal(part, std::span(lines).subspan(at, part.size()), {}, &Line::bare, &Line::bare);
}

std::set<std::string_view> bare_set(const Lines& lines) {
  std::set<std::string_view> set;
  for (const Line& line : lines) set.insert(line.bare);
  return set;
}

/// Whether a text is significant: a single `}` may end a block as well as a file.
bool tells(const Lines& part) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return std::ranges::any_of(part,
                             [&](const Line& line) { return std::ranges::any_of(line.bare, is_letter); });
}

std::string quoted(std::string_view line) {
  constexpr std::size_t kLongest = 80;
  return "`" + std::string(line.substr(0, kLongest)) + "`";
}

/// The blocks' text without blank lines around it.
std::string without_blank_ends(std::string_view text) {
  const Lines lines = filled_lines(text);
  if (lines.empty()) return {};
  return std::string(text.substr(lines.front().begin, lines.back().end - lines.front().begin));
}

std::string text_between(std::string_view text, const Lines& lines, std::size_t first, std::size_t last) {
  const std::size_t begin = first == 0 ? 0 : lines[first - 1].end;
  const std::size_t end = last == lines.size() ? text.size() : lines[last].begin;
  return std::string(text.substr(begin, std::max(begin, end) - begin));
}

bool is_import(const Line& line) { return line.raw.starts_with("import ") || line.raw.starts_with("from "); }

/// The positions from `from` to before `end` at which a frozen text between blocks begins.
std::vector<std::size_t> places_of(const Lines& part, const Lines& lines, std::size_t from, std::size_t end) {
  std::vector<std::size_t> places;
  for (std::size_t at = from; at + part.size() <= end; ++at)
    if (stands_at(lines, at, part)) places.push_back(at);
  return places;
}

Refusal without_borders() {
  return refuse(RefusalCode::no_code, "the reply leaves out the markers of several EVOLVE-BLOCKs");
}

}  // namespace

Cut cut(std::string_view text, std::span<const EvolveBlock> blocks) {
  Cut result;
  std::size_t begin = 0;
  for (const EvolveBlock& block : blocks) {
    result.frozen.emplace_back(text.substr(begin, block.begin - begin));
    result.blocks.emplace_back(text.substr(block.begin, block.end - block.begin));
    begin = block.end;
  }
  result.frozen.emplace_back(text.substr(begin));
  return result;
}

std::string joined(const Cut& parts) {
  std::string text = parts.frozen.front();
  for (std::size_t i = 0; i < parts.blocks.size(); ++i) text += parts.blocks[i] + parts.frozen[i + 1];
  return text;
}

std::string_view before_marker(std::string_view frozen) {
  const std::size_t end = frozen.rfind('\n', frozen.size() < 2 ? 0 : frozen.size() - 2);
  return end == frozen.npos ? ""sv : frozen.substr(0, end + 1);
}

std::string_view behind_marker(std::string_view frozen) {
  const std::size_t begin = frozen.find('\n');
  return begin == frozen.npos ? ""sv : frozen.substr(begin + 1);
}

// An editor's byte-order mark counts as a blank, because models do not return it.
std::string without_blanks(std::string_view text) {
  constexpr auto kByteOrderMark = "\xef\xbb\xbf"sv;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result),
                       [](char c) { return " \t\r\n\f\v"sv.find(c) == ""sv.npos; });
  return result;
}

bool same_but_for_blanks(std::string_view a, std::string_view b) {
  return without_blanks(a) == without_blanks(b);
}

std::string difference(std::string_view frozen, std::string_view reply) {
  const Lines wanted = filled_lines(frozen), given = filled_lines(reply);
  const auto [line, other] = std::ranges::mismatch(wanted, given, {}, &Line::bare, &Line::bare);
  // Texts whose lines are the same may differ in a byte-order mark: at a line's beginning it is a blank.
  if (line == wanted.end() && other == given.end()) return "the frozen text holds another byte-order mark";
  if (line == wanted.end()) return "the line " + quoted(other->raw) + " is added to the frozen text";
  if (other == given.end()) return "the frozen line " + quoted(line->raw) + " is missing";
  return "the frozen line " + quoted(line->raw) + " is " + quoted(other->raw) + " in the reply";
}

FrozenText::FrozenText(Cut file, Language language) : file_(std::move(file)), language_(language) {
  std::string blocks;
  for (const std::string& block : file_.blocks) blocks += block + "\n";
  const NameSet own = names_in(blocks, language).outer;
  for (std::size_t i = 0; i < file_.frozen.size(); ++i) {
    std::string_view frozen = file_.frozen[i];
    if (i + 1 < file_.frozen.size()) frozen = before_marker(frozen);
    if (i > 0) frozen = behind_marker(frozen);
    parts_.push_back(filled_lines(frozen));
    names_.push_back(without(names_in(frozen, language).outer, own));
  }
}

bool FrozenText::closes_like(std::size_t block, std::string_view text) const {
  return open_brackets(text, language_) == open_brackets(file_.blocks[block], language_);
}

// A name of a frozen text that `text` redefines. Importing the same as a frozen line is harmless.
const std::string* FrozenText::redefined(std::size_t part, std::string_view text) const {
  return names_[part].empty() ? nullptr : in_both(names_[part], names_in(text, language_).outer);
}

// A frozen line that is not indented, has a name and also occurs in `text`. Includes and imports are
// harmless, and lines that a block also has are not evidence.
const Line* FrozenText::repeated(std::size_t part, std::string_view text) const {
  const Lines lines = filled_lines(text);
  const auto given = bare_set(lines);
  const auto is_repeated = [&](const Line& line) {
    return !line.is_indented && !line.raw.starts_with('#') && !is_import(line) && tells({line}) &&
           given.contains(line.bare) && std::ranges::none_of(file_.blocks, [&](const std::string& block) {
             return block.find(line.raw) != block.npos;
           });
  };
  const auto line = std::ranges::find_if(parts_[part], is_repeated);
  return line == parts_[part].end() ? nullptr : &*line;
}

FrozenText::Extent FrozenText::extent_of(std::string_view text) const {
  Extent extent{.lines = filled_lines(text)};
  const Lines &lines = extent.lines, &head = parts_.front(), &tail = parts_.back();
  extent.has_head = stands_at(lines, 0, head);
  extent.begin = extent.has_head ? head.size() : 0;
  extent.has_tail =
      extent.begin + tail.size() <= lines.size() && stands_at(lines, lines.size() - tail.size(), tail);
  extent.end = lines.size() - (extent.has_tail ? tail.size() : 0);
  // A block may end like the file by chance; then the text before that has an open bracket.
  if (extent.has_tail && !extent.has_head &&
      !closes_like(file_.blocks.size() - 1, text_between(text, lines, 0, extent.end))) {
    extent.has_tail = tail.empty();
    extent.end = lines.size();
  }
  return extent;
}

bool FrozenText::is_whole_file(std::string_view text, const Extent& extent) const {
  if ((extent.has_head && tells(parts_.front())) || (extent.has_tail && tells(parts_.back()))) return true;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (redefined(i, text)) return true;
  return false;
}

bool FrozenText::is_whole_file(std::string_view text) const { return is_whole_file(text, extent_of(text)); }

Refusal FrozenText::changed(std::size_t part, const Lines& reply, std::string_view name) const {
  const auto given = bare_set(reply);
  const auto is_lacking = [&](const Line& line) {
    return line.raw.find(name) != line.raw.npos && !given.contains(line.bare);
  };
  const std::string what = name.empty() ? "the reply is the whole file"
                                        : "the reply defines " + std::string(name) + ", which is frozen,";
  const Lines& frozen = parts_[part];
  auto line = std::ranges::find_if(frozen, is_lacking);
  if (line == frozen.end()) {
    name = {};
    line = std::ranges::find_if(frozen, is_lacking);
  }
  const bool adds = line == frozen.end();  // each line is there, with other text between them
  return refuse(
      RefusalCode::edit_frozen,
      what + (adds ? " and adds to the frozen text at " : " and changes or leaves out the frozen line ") +
          quoted(adds ? frozen.front().raw : line->raw));
}

std::variant<std::vector<std::string>, Refusal> FrozenText::block_texts(std::string_view text) const {
  const Extent extent = extent_of(text);
  const Lines& lines = extent.lines;
  const std::size_t last = file_.blocks.size();
  if (!is_whole_file(text, extent)) {
    if (last > 1) return without_borders();
    return std::vector{std::string(text)};
  }
  const std::string open = text_between(text, lines, extent.begin, extent.end);
  for (const std::size_t i : {std::size_t{0}, last}) {
    if (i == 0 ? extent.has_head : extent.has_tail) continue;
    if (const auto* name = redefined(i, open)) return changed(i, lines, *name);
    if (repeated(i, open)) return changed(i, lines, {});
  }
  std::vector<std::string> texts;
  std::size_t from = extent.begin;
  for (std::size_t i = 1; i < last; ++i) {
    if (!tells(parts_[i])) return without_borders();
    const auto places = places_of(parts_[i], lines, from, extent.end);
    if (places.empty()) return changed(i, lines, {});
    if (places.size() > 1) return without_borders();
    texts.push_back(text_between(text, lines, from, places.front()));
    from = places.front() + parts_[i].size();
  }
  texts.push_back(text_between(text, lines, from, extent.end));
  // If the file's beginning or end is missing, an extra bracket shows that a changed part of it is there.
  if (!extent.has_head && !closes_like(0, texts.front())) return changed(0, lines, {});
  if (!extent.has_tail && !closes_like(last - 1, texts.back())) return changed(last, lines, {});
  for (std::size_t i = 0; i < last; ++i) {
    texts[i] = without_blank_ends(texts[i]);
    if (texts[i] == without_blank_ends(file_.blocks[i])) texts[i] = file_.blocks[i];
  }
  return texts;
}

}  // namespace kernelsmith::detail
