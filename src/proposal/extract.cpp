#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "fence_choice.hpp"
#include "fences.hpp"
#include "file_reply.hpp"
#include "reasoning.hpp"
#include "refuse.hpp"

namespace kernelsmith {
namespace {

using namespace std::string_view_literals;
using namespace detail;
using Extraction = std::variant<Source, Refusal>;

// Replies are untrusted and parsed on a thread that others wait for, so all work is limited.
constexpr std::size_t kMostReplyBytes = std::size_t{4} << 20;
constexpr std::size_t kMostChildBytes = std::size_t{1} << 20;
constexpr std::size_t kMostFences = 200;

bool has_file(const Source& source, std::string_view path) { return source.find(path) != nullptr; }

std::vector<std::string> paths_of(const Source& source) {
  std::vector<std::string> paths;
  for (const SourceFile& file : source.files()) paths.push_back(file.path);
  return paths;
}

// An editor's byte-order marks at the beginning of a line hide fences and markers.
std::string without_byte_order_marks(std::string_view reply) {
  constexpr auto kMark = "\xef\xbb\xbf"sv;
  std::string result;
  for (std::string_view line : lines_of(reply)) {
    while (line.starts_with(kMark)) line.remove_prefix(kMark.size());
    result += line;
  }
  return result;
}

// The text without a first line that only names the file, unless the file itself begins with that line.
std::string without_name(const Fence& fence, const std::string& path, const Source& parent) {
  const SourceFile* file = parent.find(path);
  if (!names_in_first_line(fence.text, path) || (file && names_in_first_line(file->text, path)))
    return fence.text;
  return fence.text.substr(std::min(fence.text.find('\n'), fence.text.size() - 1) + 1);
}

// Unescapes a text if all its special characters are escaped for HTML, unlike the parent's.
std::string without_html(const std::string& text, const Source& parent) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kEscapes{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''}}};
  const auto holds_escapes = [&](std::string_view where) {
    return std::ranges::any_of(kEscapes,
                               [&](const auto& one) { return where.find(one.first) != where.npos; });
  };
  if (text.find('<') != std::string::npos || !holds_escapes(text) ||
      std::ranges::any_of(parent.files(), [&](const SourceFile& file) { return holds_escapes(file.text); }))
    return text;
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const auto escape =
        std::ranges::find_if(kEscapes, [&](const auto& one) { return rest.starts_with(one.first); });
    if (rest.front() == '&' && escape == kEscapes.end()) return text;
    plain += escape == kEscapes.end() ? rest.front() : escape->second;
    at += escape == kEscapes.end() ? 1 : escape->first.size();
  }
  return plain;
}

// The lines of an unfenced reply from its first marker to its last; empty if there are none.
std::string_view between_markers(std::string_view reply) {
  const auto blocks = find_blocks(one_file("reply", std::string(reply)));
  if (!blocks || blocks->empty()) return {};
  const auto lines = lines_of(reply);
  const std::string_view last = lines[blocks->back().end_line - 1];
  const char* begin = lines[blocks->front().start_line - 1].data();
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

// The file, if the reply has each of its EVOLVE-BLOCKs, with only the markers, in a fence of its own and in
// the file's order; the text between the blocks is the parent's. Otherwise empty.
std::string text_of_parts(const std::vector<const Fence*>& fences, const SourceFile& file) {
  const auto wanted = find_blocks(one_file(file.path, file.text));
  if (!wanted || wanted->size() < 2) return {};
  const auto lines = lines_of(file.text);
  std::string text;
  std::size_t parts = 0;
  for (const Fence* fence : fences) {
    const auto blocks = find_blocks(one_file(file.path, fence->text));
    if (!blocks || blocks->empty()) continue;
    if (blocks->size() > 1 || parts == wanted->size() ||
        trimmed(between_markers(fence->text)) != trimmed(fence->text))
      return {};
    if (parts > 0)
      for (std::size_t i = (*wanted)[parts - 1].end_line; i + 1 < (*wanted)[parts].start_line; ++i)
        text += lines[i];
    text += std::string(trimmed(fence->text)) + "\n";
    ++parts;
  }
  return parts == wanted->size() ? text : std::string();
}

// The fences of each file. With one file every fence belongs to it; with several files unnamed fences belong
// to the first one if no fence is named.
std::map<std::string, std::vector<const Fence*>> fences_by_file(const std::vector<Fence>& fences,
                                                                const Source& parent) {
  const std::string& first = parent.files().front().path;
  std::map<std::string, std::vector<const Fence*>> files;
  std::vector<const Fence*> unnamed;
  for (const Fence& fence : fences) {
    const std::string path = parent.files().size() == 1 ? first : path_of(fence, paths_of(parent));
    if (is_no_program(fence, path.empty() ? first : path)) continue;
    (path.empty() ? unnamed : files[path]).push_back(&fence);
  }
  if (files.empty() && !unnamed.empty()) files[first] = std::move(unnamed);
  return files;
}

// The text in the fences for one of the parent's files.
std::variant<std::string, Refusal> text_for(const std::string& path, const std::vector<const Fence*>& fences,
                                            const Source& parent) {
  if (std::string text = text_of_parts(fences, *parent.find(path)); !text.empty()) return text;
  const auto best = fences.size() == 1 ? fences.front() : FenceChoice(parent, path).best(fences);
  if (const auto* refusal = std::get_if<Refusal>(&best)) return *refusal;
  std::string text = without_name(*std::get<const Fence*>(best), path, parent);
  if (trimmed(text).empty()) return refuse(RefusalCode::no_code, "an empty text for " + path);
  return text;
}

// The length of a text's first characters, at most `most` bytes.
std::size_t whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return most;
}

// Whether a text without code begins like a model's refusal. Apostrophes may be typographic.
bool declines(std::string_view text) {
  constexpr std::array kDeclines{"i'm sorry"sv,      "i am sorry"sv, "sorry"sv,           "i apologize"sv,
                                 "i can't"sv,        "i cannot"sv,   "i can not"sv,       "i'm unable"sv,
                                 "i am unable"sv,    "i won't"sv,    "i'm not able"sv,    "i am not able"sv,
                                 "i must decline"sv, "as an ai"sv,   "unfortunately, i"sv};
  constexpr auto kTypographic = "\xe2\x80\x99"sv;
  std::string start(text.substr(0, 40));
  for (auto at = start.find(kTypographic); at != start.npos; at = start.find(kTypographic))
    start.replace(at, kTypographic.size(), "'");
  std::ranges::transform(start, start.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::any_of(kDeclines, [&](auto words) { return start.starts_with(words); });
}

Refusal without_code(std::string_view reply) {
  const std::string_view text = trimmed(reply);
  const bool declined = declines(text);
  return refuse(declined ? RefusalCode::declined : RefusalCode::no_code,
                "the reply holds no fenced code: " + std::string(text.substr(0, whole_characters(text, 80))));
}

RefusalCode code_of(EditFault::Kind kind) {
  switch (kind) {
    case EditFault::Kind::unmatched:
      return RefusalCode::edit_unmatched;
    case EditFault::Kind::ambiguous:
      return RefusalCode::edit_ambiguous;
    case EditFault::Kind::conflict:
      return RefusalCode::edit_conflict;
    case EditFault::Kind::no_file:
      return RefusalCode::bad_path;
    case EditFault::Kind::too_many:
      break;
  }
  return RefusalCode::too_large;
}

Extraction extract_edits(std::string_view reply, const Source& parent) {
  auto edits = parse_edits(reply);
  if (!edits) return refuse(RefusalCode::truncated, describe(edits.error()));
  if (edits->empty()) return refuse(RefusalCode::no_code, "the reply holds no SEARCH/REPLACE edit");
  for (Edit& edit : *edits) {
    edit.search = without_html(edit.search, parent);
    edit.replace = without_html(edit.replace, parent);
  }
  auto outcome = apply_edits(parent, *edits);
  if (const auto* fault = std::get_if<EditFault>(&outcome)) {
    return refuse(code_of(fault->kind), fault->detail);
  }
  return std::get<Source>(std::move(outcome));
}

// Handles an unclosed last fence: drops it if it is not a program, and closes it if it is a complete program
// or has complete EVOLVE-BLOCKs. The text after the last marker may be the file's or prose, so the parent's
// text is used. False if the reply breaks off.
bool close_last(std::vector<Fence>& fences, const Source& parent) {
  if (fences.empty() || fences.back().closed) return true;
  Fence& fence = fences.back();
  const std::string named = path_of(fence, paths_of(parent));
  const FenceChoice choice(parent, has_file(parent, named) ? named : parent.files().front().path);
  if (fences.size() > 1 && names_in(fence.text, choice.language()).functions.empty()) {
    fences.pop_back();
    return true;
  }
  if (choice.is_whole(fence)) return fence.closed = true;
  const std::string_view last_marker = between_markers(fence.text);
  const auto blocks = find_blocks(parent);
  if (last_marker.empty() || !blocks || blocks->empty()) return false;
  const auto end = static_cast<std::size_t>(last_marker.data() + last_marker.size() - fence.text.data());
  fence.text.resize(end);
  fence.closed = true;
  return true;
}

// Takes the lines between the markers from a reply without a fence that may be a program.
Extraction extract_unfenced(std::string_view reply, const std::vector<Fence>& fences, const Source& parent) {
  const std::string_view text = between_markers(reply);
  if (text.empty() && !fences.empty())
    return refuse(RefusalCode::no_code,
                  "the reply's fenced code is tagged " + fences.front().info + ", not a program");
  if (text.empty()) return without_code(reply);
  return with_reply(parent, parent.files().front().path, text);
}

Extraction extract_files(std::string_view reply, const Source& parent) {
  if (holds_edits(reply)) return refuse(RefusalCode::no_code, "edits where whole files were asked for");
  auto fences = find_fences(reply);
  for (Fence& fence : fences) fence.text = without_html(fence.text, parent);
  if (!close_last(fences, parent)) return refuse(RefusalCode::truncated, "the last code fence is not closed");
  if (fences.size() > kMostFences)
    return refuse(RefusalCode::too_large, "the reply has " + std::to_string(fences.size()) +
                                              " code blocks; " + std::to_string(kMostFences) +
                                              " are read at most");
  const auto files = fences_by_file(fences, parent);
  if (files.empty()) return extract_unfenced(reply, fences, parent);
  Source child = parent;
  for (const auto& [path, own] : files) {
    if (!has_file(parent, path)) return refuse(RefusalCode::bad_path, "the candidate has no file " + path);
    const auto text = text_for(path, own, parent);
    if (const auto* refusal = std::get_if<Refusal>(&text)) return *refusal;
    auto outcome = with_reply(child, path, std::get<std::string>(text));
    if (std::holds_alternative<Refusal>(outcome)) return outcome;
    child = std::get<Source>(std::move(outcome));
  }
  return child;
}

// Whether a part of the reply can be the answer by itself.
bool holds_program(std::string_view text, const Source& parent) {
  if (holds_edits(text)) return parse_edits(text).has_value();
  const auto fences = find_fences(with_fences_on_own_lines(text));
  for (const auto& [path, own] : fences_by_file(fences, parent))
    if (has_file(parent, path)) {
      const FenceChoice choice(parent, path);
      if (std::ranges::any_of(own, [&](const Fence* fence) { return choice.may_be_program(*fence); }))
        return true;
    }
  return !between_markers(text).empty();
}

}  // namespace

std::variant<Source, Refusal> extract(std::string_view reply, const Source& parent, ReplyForm form,
                                      bool cut_off) {
  if (trimmed(reply).empty()) return refuse(RefusalCode::empty_reply, "the reply is empty");
  if (cut_off) return refuse(RefusalCode::truncated, "the reply ended at its length limit");
  if (reply.size() > kMostReplyBytes)
    return refuse(RefusalCode::too_large, "the reply has " + std::to_string(reply.size()) + " bytes; " +
                                              std::to_string(kMostReplyBytes) + " are read at most");
  if (parent.empty()) return refuse(RefusalCode::no_code, "the parent has no file to be rewritten");
  std::string text = without_byte_order_marks(reply);
  if (!holds_edits(text)) text = with_fences_on_own_lines(text);
  auto answer = without_reasoning(text, [&](std::string_view part) { return holds_program(part, parent); });
  if (!answer) return refuse(RefusalCode::truncated, "the reply ends within its reasoning");
  if (trimmed(*answer).empty())
    return refuse(RefusalCode::empty_reply, "the reply holds nothing but reasoning");
  // This is done again, because an unclosed fence of a draft hid the answer's fences.
  if (!holds_edits(*answer)) answer = with_fences_on_own_lines(*answer);
  const bool edits = form == ReplyForm::edits || (form == ReplyForm::either && holds_edits(*answer));
  Extraction outcome = edits ? extract_edits(*answer, parent) : extract_files(*answer, parent);
  if (const auto* child = std::get_if<Source>(&outcome)) {
    if (child->bytes() > std::max(kMostChildBytes, parent.bytes()))
      return refuse(RefusalCode::too_large, "the program would have " + std::to_string(child->bytes()) +
                                                " bytes; " + std::to_string(kMostChildBytes) +
                                                " is the limit");
    if (*child == parent) return refuse(RefusalCode::unchanged, "the reply gives the parent as it is");
    const Status frozen = check_frozen(parent, *child);
    if (!frozen) return refuse(RefusalCode::edit_frozen, describe(frozen.error()));
  }
  return outcome;
}

}  // namespace kernelsmith
