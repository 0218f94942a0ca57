#include <algorithm>
#include <optional>

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

struct Match {
  std::size_t file = 0;
  std::size_t first_line = 0;
};

bool matches_at(const Lines& lines, std::size_t at, const Lines& wanted) {
  if (at + wanted.size() > lines.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at),
                    [](auto a, auto b) { return without_newline(a) == without_newline(b); });
}

std::vector<Match> matches_of(const std::vector<SourceFile>& files, const Lines& wanted) {
  std::vector<Match> matches;
  if (wanted.empty()) return matches;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Lines lines = lines_of(files[file].text);
    for (std::size_t at = 0; at < lines.size(); ++at) {
      if (matches_at(lines, at, wanted)) matches.push_back({file, at});
    }
  }
  return matches;
}

// The file's text with `count` lines from `first` on replaced; its own line ends are kept.
std::string replaced(std::string_view text, std::size_t first, std::size_t count,
                     std::string_view replacement) {
  const Lines lines = lines_of(text);
  const std::string_view line_end = line_end_of(text);
  std::string result;
  for (std::size_t i = 0; i < first; ++i) result.append(lines[i]);
  for (const std::string_view line : lines_of(replacement))
    result.append(without_newline(line)).append(line_end);
  const bool at_open_end = first + count == lines.size() && !lines.back().ends_with('\n');
  if (at_open_end && !replacement.empty()) result.resize(result.size() - line_end.size());
  for (std::size_t i = first + count; i < lines.size(); ++i) result.append(lines[i]);
  return result;
}

EditFault unmatched(const Edit& edit, std::size_t index) {
  const bool empty = edit.search.empty();
  return {EditFault::Kind::unmatched, index,
          name_of(edit, index) + (empty ? " has an empty SEARCH part" : " occurs nowhere in the source")};
}

EditFault ambiguous(const Edit& edit, std::size_t index, const std::vector<SourceFile>& files,
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
  std::vector<SourceFile> files = source.files();
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Lines wanted = lines_of(edits[i].search);
    const std::vector<Match> matches = matches_of(files, wanted);
    if (matches.empty()) return unmatched(edits[i], i);
    if (matches.size() > 1) return ambiguous(edits[i], i, files, matches);
    std::string& text = files[matches[0].file].text;
    text = replaced(text, matches[0].first_line, wanted.size(), edits[i].replace);
  }
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
