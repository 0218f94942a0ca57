#include "reasoning.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

#include "fences.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

// The limit of searched pairs of tags. A reply has few, and each search reads to the reply's end.
constexpr std::size_t kMostTags = 200;

/// An opening tag at the beginning of a line, and its closing tag.
struct Tag {
  std::string name;  // in lower case
  std::string closing;

  bool is_thought() const { return speaks_of({"think"sv, "thought"sv, "reason"sv}); }
  bool is_answer() const { return speaks_of({"answer"sv, "final"sv, "solution"sv, "code"sv}); }

 private:
  bool speaks_of(std::initializer_list<std::string_view> words) const {
    return std::ranges::any_of(words, [&](auto word) { return name.find(word) != name.npos; });
  }
};

constexpr auto kTriangle = "\xe2\x97\x81"sv;

std::optional<Tag> tag_at(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSigns{
      {{"<|", "|>"}, {"<", ">"}, {"[", "]"}, {kTriangle, "\xe2\x96\xb7"}}};
  constexpr std::size_t kLongestName = 40;
  for (const auto& [open, close] : kSigns) {
    if (!text.starts_with(open)) continue;
    const std::string_view rest = text.substr(open.size(), kLongestName + close.size());
    const std::size_t end = rest.find(close);
    if (end == rest.npos || end == 0) continue;
    const std::string name = lower_case(rest.substr(0, end));
    constexpr auto kNameSigns = "abcdefghijklmnopqrstuvwxyz0123456789_-"sv;
    if (name.find_first_not_of(kNameSigns) != name.npos) continue;
    const std::string last = name.starts_with("begin") ? "end" + name.substr(5) : "/" + name;
    return Tag{name, std::string(open) + last + std::string(close)};
  }
  return std::nullopt;
}

/// An end of thoughts at the beginning or end of a line.
struct End {
  std::size_t offset = 0;  // of the rest of the line, after the tag
  bool begins = false;     // it is at the beginning
};

std::optional<End> end_of_thoughts(std::string_view line) {
  constexpr std::size_t kLongestTag = 64;
  for (std::size_t at = line.find('/'); at != line.npos; at = line.find('/', at + 1)) {
    for (const std::string_view open : {"<"sv, "["sv, kTriangle}) {
      if (!line.substr(0, at).ends_with(open)) continue;
      const auto tag = tag_at(std::string(open) + std::string(line.substr(at + 1, kLongestTag)));
      if (!tag || !tag->is_thought()) continue;
      const std::size_t begin = at - open.size(), end = begin + tag->closing.size();
      const bool begins = trimmed(line.substr(0, begin)).empty();
      if (begins || trimmed(line.substr(end)).empty()) return End{end, begins};
    }
  }
  return std::nullopt;
}

/// The position after an end of thoughts without a beginning; 0 if there is none.
/// Reasoning.OfThoughtsIsNeverTheAnswer
std::size_t end_of_orphan(std::string_view reply) {
  std::size_t at = 0;
  FenceTracker fences;
  for (const std::string_view line : lines_of(reply)) {
    if (const auto tag = tag_at(trimmed(line)); tag && tag->is_thought()) return 0;
    // In a fence it may be the program's own text.
    const auto end = end_of_thoughts(line);
    if (end && (end->begins || !fences.inside())) return at + end->offset;
    fences.pass(line);
    at += line.size();
  }
  return 0;
}

/// Whether a reply was complete before another part began.
bool is_complete(std::string_view answer) {
  if (holds_edits(answer)) return parse_edits(answer).has_value();
  const auto fences = find_fences(answer);
  return !fences.empty() && fences.back().closed;
}

/// The final message of a reply in channels, and text outside of channels. Empty if it ends within another
/// channel. A reply without channels is returned unchanged.
std::optional<std::string> final_message(std::string_view reply) {
  constexpr auto kChannel = "<|channel|>"sv, kMessage = "<|message|>"sv, kStart = "<|start|>"sv;
  constexpr std::array kEnds{"<|end|>"sv, "<|return|>"sv, "<|call|>"sv, kStart, kChannel};
  const auto next = [&](std::size_t from) {
    std::size_t at = reply.find("<|", from);
    const auto is_end = [&](auto word) { return reply.substr(at).starts_with(word); };
    while (at != reply.npos && std::ranges::none_of(kEnds, is_end)) at = reply.find("<|", at + 1);
    return std::min(at, reply.size());
  };
  const std::size_t first = reply.find(kChannel);
  const std::size_t line = first == reply.npos ? first : reply.rfind('\n', first) + 1;
  if (first == reply.npos || !trimmed(reply.substr(line)).starts_with("<|")) return std::string(reply);
  std::string answer(reply.substr(0, line));
  for (std::size_t at = next(line); at < reply.size();) {
    const std::string_view rest = reply.substr(at);
    std::size_t begin = reply.find("|>", at) + 2;
    const std::size_t end = next(begin);
    if (rest.starts_with(kChannel)) {
      const std::size_t body = reply.substr(0, end).find(kMessage, begin);
      const bool is_final = reply.substr(begin).starts_with("final");
      if (!is_final && end == reply.size()) return is_complete(answer) ? std::optional(answer) : std::nullopt;
      begin = is_final && body != reply.npos ? body + kMessage.size() : end;
    } else if (rest.starts_with(kStart)) {
      begin = end;  // skips the speaker's name
    }
    answer.append(reply.substr(begin, end - begin)).append("\n");
    at = end;
  }
  return answer;
}

/// Parts of the answer between tags, which may be drafts.
using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

/// The answer without the spans that a program follows.
std::string without_drafts(const std::string& answer, const Spans& spans,
                           const std::function<bool(std::string_view)>& holds_program) {
  std::size_t drafts = spans.size();
  const auto behind = [&](std::size_t span) {
    const std::size_t begin = spans[span].second;
    const std::size_t end = span + 1 < spans.size() ? spans[span + 1].first : answer.size();
    return std::string_view(answer).substr(begin, end - begin);
  };
  while (drafts > 0 && !holds_program(behind(drafts - 1))) --drafts;
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < drafts; ++i) {
    result += answer.substr(at, spans[i].first - at);
    at = spans[i].second;
  }
  return result + answer.substr(at);
}

/// Finds `closing` at the beginning or end of a line, from `from` on; returns its end, or npos.
std::size_t end_of_pair(std::string_view reply, std::string_view closing, std::size_t from) {
  for (const std::string_view line : lines_of(reply.substr(from))) {
    const std::string_view bare = trimmed(line);
    const bool ends = bare.ends_with(closing);
    if (!ends && !bare.starts_with(closing)) continue;
    return static_cast<std::size_t>(bare.data() - reply.data()) + (ends ? bare.size() : closing.size());
  }
  return reply.npos;
}

std::string_view without_indent(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

std::optional<std::string> without_reasoning(std::string_view reply,
                                             const std::function<bool(std::string_view)>& holds_program) {
  const auto message = final_message(reply);
  if (!message) return std::nullopt;
  const std::string text = message->substr(end_of_orphan(*message));
  const std::string low = lower_case(text);  // of the same length
  std::string answer;
  Spans spans;
  FenceTracker fences;
  std::size_t tags = 0;
  std::size_t draft_end = 0;  // in `text`, while a draft is open
  std::size_t line_end = 0;   // a line may have very many pairs, but its end is searched once
  for (std::size_t at = 0; at < text.size();) {
    if (line_end <= at) line_end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (draft_end > 0 && at >= draft_end) {
      spans.back().second = answer.size();
      draft_end = 0;
      fences = FenceTracker();  // open fences of a draft end with it
    }
    if (at < draft_end && draft_end < line_end) line_end = draft_end;
    const std::string_view line = std::string_view(text).substr(at, line_end - at);
    const auto tag = fences.inside() ? std::nullopt : tag_at(without_indent(line));
    if (tag && tag->is_thought() && tags < kMostTags) {
      const std::size_t end = low.find(tag->closing, at);
      if (end != low.npos) {
        at = end + tag->closing.size();
        continue;
      }
      // A heading in brackets needs no end.
      if (tag->closing.front() != '[') return is_complete(answer) ? std::optional(answer) : std::nullopt;
      ++tags;
    } else if (tag && !tag->is_answer() && draft_end == 0 && tags++ < kMostTags) {
      if (const std::size_t end = end_of_pair(low, tag->closing, at); end != low.npos) {
        spans.emplace_back(answer.size(), answer.size());
        draft_end = end;
      }
    }
    fences.pass(line);
    answer += line;
    at = line_end;
  }
  if (draft_end > 0) spans.back().second = answer.size();
  return without_drafts(answer, spans, holds_program);
}

}  // namespace kernelsmith::detail
