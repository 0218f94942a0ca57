#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith {
namespace {

using Lines = std::vector<std::string_view>;

// A name such as "edit 2 (`for (int i = 0; i < n; ++i) {`)".
std::string name_of(const Edit& edit, std::size_t index) {
  constexpr std::size_t kLongest = 80;
  for (const std::string_view line : lines_of(edit.search)) {
    if (trimmed(line).empty()) continue;
    return "edit " + std::to_string(index + 1) + " (`" + std::string(trimmed(line).substr(0, kLongest)) +
           "`)";
  }
  return "edit " + std::to_string(index + 1);
}

// The limit of lines that are compared or moved. It takes some tenths of a second. The edits of models need a
// thousandth of it.
constexpr std::size_t kMostWork = 100'000'000;

// A file that is being edited.
struct OpenFile {
  std::string path;
  Lines lines;
  std::string_view line_end;
};

struct Match {
  std::size_t file = 0;
  std::size_t first_line = 0;
};

// How a match may differ from the SEARCH text. Each kind is tried if the kind before it finds nothing.
enum class Likeness { exact, blanks_at_line_ends, indentation };

std::string_view without_blanks_behind(std::string_view line) {
  while (!line.empty() && (detail::is_blank(line.back()) || line.back() == '\n')) line.remove_suffix(1);
  return line;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

// The common indentation of all lines that are not empty.
std::string_view common_indent(std::span<const std::string_view> lines) {
  std::optional<std::string_view> common;
  for (const std::string_view line : lines) {
    if (trimmed(line).empty()) continue;
    const std::string_view indent = line.substr(0, indent_of(line));
    if (!common) common = indent;
    const auto end = std::ranges::mismatch(*common, indent).in1;
    common = common->substr(0, static_cast<std::size_t>(end - common->begin()));
  }
  return common.value_or(std::string_view{});
}

bool matches_at(std::span<const std::string_view> lines, const Lines& wanted, Likeness likeness,
                std::size_t& work) {
  const auto rest = [](std::string_view line, std::size_t indent) {
    line = without_blanks_behind(line);
    return line.substr(std::min(indent, line.size()));
  };
  std::size_t have = 0, want = 0;
  if (likeness == Likeness::indentation) {
    work += 1;
    if (trimmed(lines.front()) != trimmed(wanted.front())) return false;
    have = common_indent(lines).size();
    want = common_indent(wanted).size();
    work += 2 * wanted.size();
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ++work;
    const bool same = likeness == Likeness::exact ? without_newline(lines[i]) == without_newline(wanted[i])
                                                  : rest(lines[i], have) == rest(wanted[i], want);
    if (!same) return false;
  }
  return true;
}

// The matches found before `work` is used up.
std::vector<Match> matches_of(const std::vector<OpenFile>& files, const std::string& path,
                              const Lines& wanted, Likeness likeness, std::size_t& work) {
  std::vector<Match> matches;
  for (std::size_t file = 0; file < files.size(); ++file) {
    if (!path.empty() && files[file].path != path) continue;
    const std::span<const std::string_view> lines(files[file].lines);
    for (std::size_t at = 0; at + wanted.size() <= lines.size() && work <= kMostWork; ++at)
      if (matches_at(lines.subspan(at, wanted.size()), wanted, likeness, work)) matches.push_back({file, at});
  }
  return matches;
}

// The closest matches. Blank lines match only exactly.
std::pair<std::vector<Match>, Likeness> closest_matches(const std::vector<OpenFile>& files,
                                                        const std::string& path, const Lines& wanted,
                                                        std::size_t& work) {
  const bool says_something =
      std::ranges::any_of(wanted, [](std::string_view line) { return !trimmed(line).empty(); });
  if (wanted.empty()) return {};
  for (const Likeness likeness : {Likeness::exact, Likeness::blanks_at_line_ends, Likeness::indentation}) {
    if (likeness != Likeness::exact && !says_something) break;
    auto matches = matches_of(files, path, wanted, likeness, work);
    if (!matches.empty() || work > kMostWork) return {std::move(matches), likeness};
  }
  return {};
}

// Changes the indentation of `text` from `from` to `to`; empty if a line has less indentation than `from`.
std::optional<std::string> shifted(std::string_view text, std::string_view from, std::string_view to) {
  // If one indentation ends with the other, lines that are less indented than both are shifted too.
  const bool deeper = to.ends_with(from), higher = from.ends_with(to);
  if (deeper) to.remove_suffix(from.size());
  if (higher) from.remove_suffix(to.size());
  if (deeper) from = {};
  if (higher) to = {};
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    if (trimmed(line).empty()) {
      result += line;
      continue;
    }
    if (!line.starts_with(from)) return std::nullopt;
    result.append(to).append(line.substr(from.size()));
  }
  return result;
}

// Replaces `count` lines from `first` on, and keeps the file's line ends. `texts` owns the new lines.
void replace(OpenFile& file, std::size_t first, std::size_t count, std::string_view replacement,
             std::deque<std::string>& texts) {
  Lines fresh;
  for (const std::string_view line : lines_of(replacement))
    fresh.push_back(texts.emplace_back(std::string(without_newline(line)).append(file.line_end)));
  const bool at_open_end = first + count == file.lines.size() && !file.lines.back().ends_with('\n');
  if (at_open_end && !fresh.empty()) fresh.back().remove_suffix(file.line_end.size());
  const auto begin = file.lines.begin() + static_cast<std::ptrdiff_t>(first);
  const auto behind = file.lines.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  file.lines.insert(behind, fresh.begin(), fresh.end());
}

std::string text_of(const OpenFile& file) {
  std::string text;
  for (const std::string_view line : file.lines) text.append(line);
  return text;
}

EditFault unmatched(const Edit& edit, std::size_t index) {
  const bool empty = edit.search.empty();
  return {EditFault::Kind::unmatched, index,
          name_of(edit, index) + (empty ? " has an empty SEARCH part" : " occurs nowhere in the source")};
}

EditFault not_shifted(const Edit& edit, std::size_t index) {
  return {EditFault::Kind::unmatched, index,
          name_of(edit, index) +
              " occurs only with another indentation, and its REPLACE part cannot be indented to match"};
}

EditFault no_file(const Edit& edit, std::size_t index) {
  return {EditFault::Kind::no_file, index,
          name_of(edit, index) + " is for " + edit.path + ", which the candidate does not have"};
}

EditFault too_many(const Edit& edit, std::size_t index) {
  return {EditFault::Kind::too_many, index,
          "up to " + name_of(edit, index) + " the edits are too many for so many lines"};
}

EditFault ambiguous(const Edit& edit, std::size_t index, const std::vector<OpenFile>& files,
                    const std::vector<Match>& matches) {
  const auto where = [&](const Match& match) {
    return files[match.file].path + ":" + std::to_string(match.first_line + 1);
  };
  return {EditFault::Kind::ambiguous, index,
          name_of(edit, index) + " occurs " + std::to_string(matches.size()) +
              " times in the source, first at " + where(matches[0]) + " and " + where(matches[1])};
}

EditFault conflict(const std::vector<Edit>& edits, std::size_t one, std::size_t other,
                   const std::string& at) {
  const auto [first, second] = std::minmax(one, other);
  return {EditFault::Kind::conflict, second,
          name_of(edits[second], second) + " changes the same lines as " + name_of(edits[first], first) +
              ", at " + at};
}

// An edit whose place is known: the lines that it searches for, from `first` on, and the range of them that
// it changes.
struct Change {
  std::size_t edit = 0, file = 0;
  std::size_t first = 0, count = 0;
  std::size_t begin = 0, end = 0;  // equal if the edit only adds lines
  std::string replacement;
};

// Excludes the lines at either end that SEARCH and REPLACE have in common.
void narrow(Change& change, const Lines& search, const Lines& replace) {
  const auto differ = std::ranges::mismatch(search, replace);
  const auto head = static_cast<std::size_t>(differ.in1 - search.begin());
  std::size_t tail = 0;
  while (head + tail < std::min(search.size(), replace.size()) &&
         search[search.size() - 1 - tail] == replace[replace.size() - 1 - tail])
    ++tail;
  change.begin += head;
  change.end -= tail;
  const std::string whole = std::exchange(change.replacement, {});
  const Lines lines = lines_of(whole);
  for (std::size_t i = head; i + tail < lines.size(); ++i) change.replacement += lines[i];
}

bool in_conflict(const Change& a, const Change& b) {
  if (a.file != b.file) return false;
  if (a.begin < b.end && b.begin < a.end) return true;
  const bool touch = a.begin <= b.end && b.begin <= a.end;
  const bool only_add = a.begin == a.end && b.begin == b.end;
  const bool share = a.first < b.first + b.count && b.first < a.first + a.count;
  const bool same_search = a.first == b.first && a.count == b.count;
  return touch && ((only_add && share) || same_search);
}

// Finds edits in files and applies them.
class Editing {
 public:
  Editing(const Source& source, const std::vector<Edit>& edits) : edits_(edits) {
    for (const SourceFile& file : source.files())
      open_.push_back({file.path, lines_of(file.text), line_end_of(file.text)});
  }

  std::optional<EditFault> apply() {
    std::vector<Change> changes;
    std::vector<std::size_t> absent;
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
    for (std::size_t i = 0; i < edits_.size(); ++i) {
      if (!seen.emplace(edits_[i].path, edits_[i].search, edits_[i].replace).second) continue;
      auto found = find(i);
      if (auto* change = std::get_if<Change>(&found))
        changes.push_back(std::move(*change));
      else if (std::get<EditFault>(found).kind == EditFault::Kind::unmatched && !edits_[i].search.empty())
        absent.push_back(i);
      else
        return std::get<EditFault>(std::move(found));
    }
    if (auto fault = carry_out(std::move(changes))) return fault;
    for (const std::size_t i : absent) {
      auto found = find(i);
      if (auto* fault = std::get_if<EditFault>(&found)) return std::move(*fault);
      carry_out(std::get<Change>(found));
    }
    return std::nullopt;
  }

  Source result() const {
    std::vector<SourceFile> files;
    for (const OpenFile& file : open_) files.push_back({file.path, text_of(file)});
    return Source::create(std::move(files)).value();  // cannot fail: the paths come from a Source
  }

 private:
  std::variant<Change, EditFault> find(std::size_t index) {
    const Edit& edit = edits_[index];
    const std::string path = open_.size() > 1 ? edit.path : "";  // with one file the name does not matter
    if (!path.empty() && std::ranges::find(open_, path, &OpenFile::path) == open_.end())
      return no_file(edit, index);
    const Lines wanted = lines_of(edit.search);
    const auto [matches, likeness] = closest_matches(open_, path, wanted, work_);
    if (work_ > kMostWork) return too_many(edit, index);
    if (matches.empty()) return unmatched(edit, index);
    if (matches.size() > 1) return ambiguous(edit, index, open_, matches);
    const OpenFile& file = open_[matches[0].file];
    const std::size_t first = matches[0].first_line, end = first + wanted.size();
    std::optional<std::string> replacement = edit.replace;
    if (likeness == Likeness::indentation)
      replacement = shifted(edit.replace, common_indent(wanted),
                            common_indent(std::span(file.lines).subspan(first, wanted.size())));
    if (!replacement) return not_shifted(edit, index);
    Change change{index, matches[0].file, first, wanted.size(), first, end, std::move(*replacement)};
    const bool at_open_end = end == file.lines.size() && !file.lines.back().ends_with('\n');
    if (!at_open_end) narrow(change, wanted, lines_of(edit.replace));
    return change;
  }

  // Applies the changes from the last to the first, so that the places of the others stay valid.
  std::optional<EditFault> carry_out(std::vector<Change> changes) {
    std::erase_if(changes, [](const Change& one) { return one.begin == one.end && one.replacement.empty(); });
    std::ranges::sort(changes, {}, [](const Change& one) {
      return std::tuple(one.file, one.begin, one.end, one.first, one.edit);
    });
    const auto clash = std::ranges::adjacent_find(changes, in_conflict);
    if (clash != changes.end()) {
      const std::string at = open_[clash->file].path + ":" + std::to_string(std::next(clash)->begin + 1);
      return conflict(edits_, clash->edit, std::next(clash)->edit, at);
    }
    std::ranges::reverse(changes);
    for (const Change& change : changes) {
      carry_out(change);
      if (work_ > kMostWork) return too_many(edits_[change.edit], change.edit);
    }
    return std::nullopt;
  }

  void carry_out(const Change& change) {
    OpenFile& file = open_[change.file];
    replace(file, change.begin, change.end - change.begin, change.replacement, texts_);
    work_ += file.lines.size();
  }

  const std::vector<Edit>& edits_;
  std::vector<OpenFile> open_;
  std::deque<std::string> texts_;
  std::size_t work_ = 0;
};

}  // namespace

std::variant<Source, EditFault> apply_edits(const Source& source, const std::vector<Edit>& edits) {
  Editing editing(source, edits);
  if (auto fault = editing.apply()) return std::move(*fault);
  return editing.result();
}

Result<Source> with_file(const Source& source, std::string_view path, std::string text) {
  std::vector<SourceFile> files = source.files();
  const auto file = std::ranges::find(files, path, &SourceFile::path);
  if (file == files.end()) {
    return fail(ErrorCode::not_found, "the candidate has no such file", std::string(path));
  }
  file->text = std::move(text);
  return Source::create(std::move(files));
}

}  // namespace kernelsmith
