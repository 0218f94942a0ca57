#include <algorithm>
#include <cstddef>
#include <deque>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith {
namespace {

using Lines = std::vector<std::string_view>;

// Models vary the number of signs; git's markers have seven.
constexpr std::size_t kFewestSigns = 5;

// Whether `line` is five or more of `sign`, and then `word` (which may be empty).
bool is_fence(std::string_view line, char sign, std::string_view word) {
  line = trimmed(line);
  const std::size_t signs = std::min(line.find_first_not_of(sign), line.size());
  return signs >= kFewestSigns && trimmed(line.substr(signs)) == word;
}
bool begins_edit(std::string_view line) { return is_fence(line, '<', "SEARCH"); }
bool parts_edit(std::string_view line) { return is_fence(line, '=', ""); }
bool ends_edit(std::string_view line) { return is_fence(line, '>', "REPLACE"); }

std::string joined(const Lines& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text.append(without_newline(lines[i])).push_back('\n');
  return text;
}

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

bool matches_at(const Lines& lines, std::size_t at, const Lines& wanted, std::size_t& work) {
  if (at + wanted.size() > lines.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ++work;
    if (without_newline(lines[at + i]) != without_newline(wanted[i])) return false;
  }
  return true;
}

// Those found before `work` is used up.
std::vector<Match> matches_of(const std::vector<OpenFile>& files, const Lines& wanted, std::size_t& work) {
  std::vector<Match> matches;
  if (wanted.empty()) return matches;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Lines& lines = files[file].lines;
    for (std::size_t at = 0; at < lines.size() && work <= kMostWork; ++at)
      if (matches_at(lines, at, wanted, work)) matches.push_back({file, at});
  }
  return matches;
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

bool holds_edits(std::string_view text) { return std::ranges::any_of(lines_of(text), begins_edit); }

Result<std::vector<Edit>> parse_edits(std::string_view text) {
  const Lines lines = lines_of(text);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!begins_edit(lines[i])) continue;
    const std::size_t start = i;
    const auto next = [&](auto is_wanted) {
      ++i;
      while (i < lines.size() && !is_wanted(lines[i]) && !begins_edit(lines[i])) ++i;
      return i < lines.size() && is_wanted(lines[i]);
    };
    const auto broken = [&](const char* what) {
      return fail(ErrorCode::bad_input, std::string("an edit without its ") + what,
                  "line " + std::to_string(start + 1));
    };
    if (!next(parts_edit)) return broken("=======");
    const std::size_t middle = i;
    if (!next(ends_edit)) return broken(">>>>>>> REPLACE");
    edits.push_back({joined(lines, start + 1, middle), joined(lines, middle + 1, i), start + 1});
  }
  return edits;
}

std::variant<Source, EditFault> apply_edits(const Source& source, const std::vector<Edit>& edits) {
  std::vector<OpenFile> open;
  for (const SourceFile& file : source.files())
    open.push_back({file.path, lines_of(file.text), line_end_of(file.text)});
  std::deque<std::string> texts;
  std::size_t work = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Lines wanted = lines_of(edits[i].search);
    const std::vector<Match> matches = matches_of(open, wanted, work);
    if (work > kMostWork) return too_many(edits[i], i);
    if (matches.empty()) return unmatched(edits[i], i);
    if (matches.size() > 1) return ambiguous(edits[i], i, open, matches);
    OpenFile& file = open[matches[0].file];
    replace(file, matches[0].first_line, wanted.size(), edits[i].replace, texts);
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
