#include "arena_yaml.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/number_text.hpp>

#include "arena_words.hpp"

namespace kernelsmith::arena {
namespace {

constexpr std::size_t kLongestName = 100;  // of a workload
constexpr double kLeastMatched = 0.5;      // of `matched`

/// The text without control characters, so that YAML and terminals can hold it; lines stay lines.
std::string printable(std::string_view text) {
  std::string kept;
  for (const char c : text)
    if (c == '\n' || static_cast<unsigned char>(c) >= ' ') kept += c == '\x7f' ? ' ' : c;
  return detail::is_utf8(kept) ? kept : "";
}

std::string in_one_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::string indented(const std::string& text) {
  std::string block;
  const std::string clean = printable(text);
  for (const std::string_view line : lines_of(clean)) block += "  " + std::string(line);
  return block + (block.ends_with('\n') ? "" : "\n");
}

/// Names of ASCII only; a number follows a name that is there already.
void clean_names(std::vector<TaskWorkload>& workloads) {
  constexpr std::size_t kRoom = 5;  // " (64)"
  std::set<std::string> used;
  for (TaskWorkload& one : workloads) {
    for (char& c : one.name)
      if (c < ' ' || c > '~') c = '_';
    one.name.resize(std::min(one.name.size(), kLongestName - kRoom));
    const std::string begin = one.name;
    for (int i = 2; !used.insert(one.name).second; ++i) one.name = begin + " (" + std::to_string(i) + ")";
  }
}

std::string workload_line(const TaskWorkload& one) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : one.arguments) arguments.push_back(name + ": " + value);
  return "  - {name: " + in_quotes(one.name) + ", arguments: {" + in_list(arguments) + "}" +
         (one.weight == 1 || one.check ? "" : ", weight: " + std::to_string(one.weight)) +
         (one.check ? ", check: true" : "") + (one.tolerance.empty() ? "" : ", tolerance: " + one.tolerance) +
         "}\n";
}

bool can_be_said(const Figures& figures) {
  return figures.rtol < 1 && (figures.rtol > 0 || figures.atol > 0);
}

}  // namespace

std::string tolerance_value(const Figures& figures) {
  if (!can_be_said(figures)) return "{policy: auto}";
  const bool is_share = figures.matched >= kLeastMatched && figures.matched < 1;
  const bool is_either = figures.either && figures.rtol > 0 && figures.atol > 0;
  return "{rtol: " + number_text(figures.rtol) + ", atol: " + number_text(figures.atol) +
         (is_share ? ", matched: " + number_text(figures.matched) : "") +
         (figures.cap ? ", cap: " + number_text(*figures.cap) : "") + (is_either ? ", either: true" : "") +
         ", truth: reference}";
}

std::string tolerance_comment(const Figures& figures) {
  if (!can_be_said(figures))
    return "# The arena allows an rtol of " + number_text(figures.rtol) + " and an atol of " +
           number_text(figures.atol) + ", which a task cannot have: kernelsmith's own rule counts.\n";
  if (figures.matched >= kLeastMatched) return {};
  return "# The arena needs " + number_text(figures.matched * 100) +
         " % of the elements within it; here all must be.\n";
}

std::string tolerance_line(const Figures& figures) {
  return "tolerance: " + tolerance_value(figures) +
         (can_be_said(figures) ? "   # the arena's; without this line kernelsmith's own rule counts" : "") +
         "\n" + tolerance_comment(figures);
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : in_one_line(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string in_triple_quotes(std::string_view text) {
  std::string quoted = "\"\"\"\\\n";
  for (const char c : text) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + (text.ends_with('\n') ? "" : "\n") + "\"\"\"";
}

std::string task_yaml(TaskText task) {
  clean_names(task.workloads);
  std::string text =
      "# A problem of " + task.arena +
      ". docs/arenas.md says what of it a task keeps.\nversion: 1\nname: " + task.name +
      "\nbackend: torch\ndescription: |2\n" + indented(task.description) +
      "files:\n  reference: reference.py     # the arena's own text, then Model and get_inputs()\n";
  std::vector<std::string> also;
  for (const SourceFile& file : task.also) also.push_back(file.path);
  if (!also.empty())
    text += "  also: [" + in_list(also) + "]     # the arena's own texts, and fixed values in base64\n";
  text += "torch:\n  precision: " + task.precision + "\n  baseline: eager\n  policy: own_kernels\n" +
          task.tolerance;
  if (!task.workloads.empty()) text += "workloads:\n";
  for (const TaskWorkload& one : task.workloads) text += workload_line(one);
  for (const std::string& note : task.notes) text += "# Note: " + in_one_line(note) + ".\n";
  return text;
}

std::vector<std::size_t> spread(const std::vector<double>& sizes, std::size_t most) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (most >= order.size()) return order;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < most; ++i)
    kept.push_back(order[most == 1 ? (order.size() - 1) / 2 : i * (order.size() - 1) / (most - 1)]);
  std::ranges::sort(kept);
  return kept;
}

}  // namespace kernelsmith::arena
