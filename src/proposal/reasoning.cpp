#include "reasoning.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

#include "fences.hpp"

namespace kernelsmith::detail {
namespace {

constexpr std::array<std::string_view, 3> kTags{"think", "thinking", "reasoning"};

/// The name of the tag that a line begins with; empty where it begins with none.
std::string_view opened_by(std::string_view line) {
  for (const std::string_view tag : kTags)
    if (line.starts_with("<" + std::string(tag) + ">")) return tag;
  return {};
}

/// Behind a closing tag that the line begins or ends with, as an offset in it; 0 where there is none.
std::size_t end_of_closing(std::string_view line) {
  for (const std::string_view tag : kTags) {
    const std::string closing = "</" + std::string(tag) + ">";
    const std::size_t at = line.find(closing);
    if (at == line.npos) continue;
    const bool begins = trimmed(line.substr(0, at)).empty();
    const bool ends = trimmed(line.substr(at + closing.size())).empty();
    if (begins || ends) return at + closing.size();
  }
  return 0;
}

/// Behind a closing tag that no opening one stands before; 0 where there is none.
std::size_t end_of_orphan(std::string_view reply) {
  std::size_t at = 0;
  FenceTracker fences;
  for (const std::string_view line : lines_of(reply)) {
    if (!opened_by(trimmed(line)).empty()) return 0;
    // In a fence it may be the program's own text.
    const bool alone = trimmed(line).starts_with("</");
    if (const std::size_t end = end_of_closing(line); end > 0 && (alone || !fences.inside())) return at + end;
    fences.pass(line);
    at += line.size();
  }
  return 0;
}

/// Whether a reply was complete before something else began.
bool is_complete(std::string_view answer) {
  if (holds_edits(answer)) return parse_edits(answer).has_value();
  const auto fences = find_fences(answer);
  return !fences.empty() && fences.back().closed;
}

}  // namespace

std::optional<std::string> without_reasoning(std::string_view reply) {
  reply.remove_prefix(end_of_orphan(reply));
  std::string answer;
  FenceTracker fences;
  std::size_t line_left = 0;  // a line may hold very many blocks, and its end is looked for once
  while (!reply.empty()) {
    if (line_left == 0) line_left = std::min(reply.find('\n'), reply.size() - 1) + 1;
    const std::string_view line = reply.substr(0, line_left);
    const std::string_view tag = fences.inside() ? std::string_view{} : opened_by(trimmed(line));
    if (tag.empty()) {
      fences.pass(line);
      answer += line;
      reply.remove_prefix(std::exchange(line_left, 0));
      continue;
    }
    const std::string closing = "</" + std::string(tag) + ">";
    const std::size_t end = reply.find(closing);
    if (end == reply.npos) return is_complete(answer) ? std::optional(answer) : std::nullopt;
    const std::size_t passed = end + closing.size();
    line_left = passed < line_left ? line_left - passed : 0;
    reply.remove_prefix(passed);
  }
  return answer;
}

}  // namespace kernelsmith::detail
