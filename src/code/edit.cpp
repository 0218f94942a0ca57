#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith {
namespace {

using Lines = std::vector<std::string_view>;

// "edit 2 (`for (int i = 0; i < n; ++i) {`)"
std::string name_of(const Edit& edit, std::size_t index) {
  constexpr std::size_t kLongest = 80;
  for (const std::string_view line : lines_of(edit.search)) {
    if (trimmed(line).empty()) continue;
    return "edit " + std::to_string(index + 1) + " (`" + std::string(trimmed(line).substr(0, kLongest)) +
           "`)";
  }
  return "edit " + std::to_string(index + 1);
}

// Lines compared or moved; some tenths of a second. Models' edits need a thousandth of it.
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

// How much a match may differ from what is searched for; each is tried where the one before finds nothing.
enum class Likeness { exact, blanks_at_line_ends, indentation };

std::string_view without_blanks_behind(std::string_view line) {
  while (!line.empty() && (detail::is_blank(line.back()) || line.back() == '\n')) line.remove_suffix(1);
  return line;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

// The blanks that all lines begin with, empty ones apart.
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

// Those found before `work` is used up.
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

// The closest matches. Lines that hold nothing match exactly or not at all.
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

// `text` with its lines indented by `to` where what was searched for is indented by `from`; nothing where a
// line is not indented so far.
std::optional<std::string> shifted(std::string_view text, std::string_view from, std::string_view to) {
  // Where one of them ends like the other, what is less indented than both moves with them.
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

// Replaces `count` lines from `first` on; the file's own line ends are kept. `texts` holds the new lines.
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
              " occurs only at another indentation, by which its REPLACE part cannot be shifted"};
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

}  // namespace

std::variant<Source, EditFault> apply_edits(const Source& source, const std::vector<Edit>& edits) {
  std::vector<OpenFile> open;
  for (const SourceFile& file : source.files())
    open.push_back({file.path, lines_of(file.text), line_end_of(file.text)});
  std::deque<std::string> texts;
  std::size_t work = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    // With one file its name says nothing.
    const std::string path = open.size() > 1 ? edits[i].path : "";
    if (!path.empty() && !source.find(path)) return no_file(edits[i], i);
    const Lines wanted = lines_of(edits[i].search);
    const auto [matches, likeness] = closest_matches(open, path, wanted, work);
    if (work > kMostWork) return too_many(edits[i], i);
    if (matches.empty()) return unmatched(edits[i], i);
    if (matches.size() > 1) return ambiguous(edits[i], i, open, matches);
    OpenFile& file = open[matches[0].file];
    const std::size_t first = matches[0].first_line;
    std::optional<std::string> replacement = edits[i].replace;
    if (likeness == Likeness::indentation)
      replacement = shifted(edits[i].replace, common_indent(wanted),
                            common_indent(std::span(file.lines).subspan(first, wanted.size())));
    if (!replacement) return not_shifted(edits[i], i);
    replace(file, first, wanted.size(), *replacement, texts);
    work += file.lines.size();
  }
  std::vector<SourceFile> files;
  for (const OpenFile& file : open) files.push_back({file.path, text_of(file)});
  return Source::create(std::move(files)).value();  // the paths are those of a Source
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
