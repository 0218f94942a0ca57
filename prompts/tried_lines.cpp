// Finds lines that were tried and removed. They help a little with few evaluations (docs/search-quality.md).
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <kernelsmith/code/text.hpp>

#include "prompt_data.hpp"

namespace kernelsmith::detail {
namespace {

constexpr std::size_t kMostSteps = 4;        // only a handful, because the steps are only advice
constexpr std::size_t kMostLines = 6;        // lines of a step; a step with more lines is a rewrite
constexpr std::ptrdiff_t kLeastLetters = 4;  // brackets alone or `else {` are not informative

using Lines = std::vector<std::string_view>;

bool says_something(std::string_view line) {
  const auto is_word = [](unsigned char sign) { return std::isalnum(sign) != 0; };
  return std::ranges::count_if(line, is_word) >= kLeastLetters && !line.starts_with("//") &&
         !line.starts_with("# ") && !line.starts_with("*");
}

Lines lines_of_program(const Individual& individual) {
  Lines lines;
  for (const SourceFile& file : individual.program->source.files())
    for (const std::string_view line : lines_of(file.text))
      if (const std::string_view bare = trimmed(line); says_something(bare)) lines.push_back(bare);
  return lines;
}

bool is_better(const Individual& one, const Individual& other) {
  return one.evaluation.accepted() && other.evaluation.accepted() &&
         compare(one.evaluation.metrics()->fitness(), other.evaluation.metrics()->fitness()) ==
             Comparison::better;
}

bool is_child_of(const Individual& child, const Individual& parent) {
  const auto& parents = child.program->parents;
  return !parents.empty() && parents.front() == parent.program->id;
}

}  // namespace

std::vector<Tried> tried_lines(const IndividualPtr& parent, const std::vector<IndividualPtr>& kin) {
  std::vector<Tried> steps;
  if (!parent) return steps;
  const Lines now = lines_of_program(*parent);
  std::set<std::string_view> known(now.begin(), now.end());
  IndividualPtr youngest = parent;  // the youngest of the ancestors so far
  for (const IndividualPtr& one : kin) {
    if (steps.size() == kMostSteps) break;
    const bool is_ancestor = is_child_of(*youngest, *one);
    const IndividualPtr without = is_ancestor ? std::exchange(youngest, one) : parent;
    if (!is_ancestor && !is_child_of(*one, *parent)) continue;
    if (!is_better(*without, *one)) continue;
    const Lines after = lines_of_program(*without);
    Tried step{one, without, {}};
    for (const std::string_view line : lines_of_program(*one))
      if (std::ranges::find(after, line) == after.end() && known.insert(line).second)
        step.lines.emplace_back(line);
    if (!step.lines.empty() && step.lines.size() <= kMostLines) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace kernelsmith::detail
