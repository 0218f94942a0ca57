#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <dtl/dtl.hpp>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith {
namespace {

using Line = std::string;
using LineDiff = dtl::Diff<Line>;

// Marks a last line without a newline; otherwise it would print like one with a newline.
std::vector<Line> printable_lines(std::string_view text) {
  std::vector<Line> lines;
  for (const std::string_view line : lines_of(text)) lines.emplace_back(line);
  if (!lines.empty() && !lines.back().ends_with('\n')) lines.back() += "\n\\ No newline at end of file\n";
  return lines;
}

// One line of the edit from one file to the other.
using Step = std::pair<Line, dtl::elemInfo>;

char sign_of(const Step& step) {
  return step.second.type == dtl::SES_ADD ? '+' : step.second.type == dtl::SES_DELETE ? '-' : ' ';
}

// Steps [begin, end), including context.
struct Hunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Changes whose contexts touch share a hunk. README.md says why dtl's own hunks are not used.
std::vector<Hunk> hunks_of(const std::vector<Step>& steps) {
  constexpr std::size_t kContext = 3;
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (sign_of(steps[i]) == ' ') continue;
    const std::size_t begin = i < kContext ? 0 : i - kContext;
    const std::size_t end = std::min(i + 1 + kContext, steps.size());
    if (hunks.empty() || hunks.back().end < begin) hunks.push_back({begin, end});
    hunks.back().end = end;
  }
  return hunks;
}

// A range such as "12,7". For an empty range, the number is that of the line before it.
std::string range(std::size_t lines_before, std::size_t count) {
  return std::to_string(lines_before + (count > 0 ? 1 : 0)) + ',' + std::to_string(count);
}

void print_hunk(std::ostream& out, const std::vector<Step>& steps, const Hunk& hunk) {
  const auto lines_without = [&](char sign, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) count += sign_of(steps[i]) != sign;
    return count;
  };
  out << "@@ -" << range(lines_without('+', 0, hunk.begin), lines_without('+', hunk.begin, hunk.end));
  out << " +" << range(lines_without('-', 0, hunk.begin), lines_without('-', hunk.begin, hunk.end))
      << " @@\n";
  for (std::size_t i = hunk.begin; i < hunk.end; ++i) out << sign_of(steps[i]) << steps[i].first;
}

void print_file(std::ostream& out, const SourceFile* before, const SourceFile* after) {
  LineDiff diff(printable_lines(before ? before->text : ""), printable_lines(after ? after->text : ""));
  diff.compose();
  const std::vector<Step> steps = diff.getSes().getSequence();
  const std::vector<Hunk> hunks = hunks_of(steps);
  if (hunks.empty() && before && after) return;
  out << "--- " << (before ? "a/" + before->path : "/dev/null") << '\n';
  out << "+++ " << (after ? "b/" + after->path : "/dev/null") << '\n';
  for (const Hunk& hunk : hunks) print_hunk(out, steps, hunk);
}

}  // namespace

std::string unified_diff(const Source& before, const Source& after) {
  std::ostringstream out;
  for (const SourceFile& file : before.files()) print_file(out, &file, after.find(file.path));
  for (const SourceFile& file : after.files()) {
    if (before.find(file.path) == nullptr) print_file(out, nullptr, &file);
  }
  return out.str();
}

}  // namespace kernelsmith
