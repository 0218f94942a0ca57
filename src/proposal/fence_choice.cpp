#include "fence_choice.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/text.hpp>

#include "file_reply.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

/// "cpp" for "cpp title=kernel.cpp" and "cpp:kernel.cpp".
std::string tag_of(const Fence& fence) {
  return lower_case(std::string_view(fence.info).substr(0, fence.info.find_first_of(" \t:,{")));
}

/// Models do not distinguish C++ and CUDA.
bool is_c_like(Language language) { return language == Language::cpp || language == Language::cuda; }

/// Whether `part` only repeats some lines of `whole`, but not most of them.
bool is_excerpt(std::string_view part, std::string_view whole) {
  std::set<std::string_view> lines;
  for (const std::string_view line : lines_of(whole)) lines.insert(trimmed(line));
  const auto own = lines_of(part);
  return 2 * own.size() < lines_of(whole).size() && std::ranges::all_of(own, [&](std::string_view line) {
           return trimmed(line).empty() || lines.contains(trimmed(line));
         });
}

/// The text without blanks, and without the lines that mark EVOLVE-BLOCKs.
std::string without_markers(std::string_view text) {
  std::string rest;
  for (const std::string_view line : lines_of(text))
    if (line.find("EVOLVE-BLOCK-") == line.npos) rest += line;
  return without_blanks(rest);
}

}  // namespace

bool is_no_program(const Fence& fence, const std::string& path) {
  constexpr std::array kNoPrograms{"bash"sv, "sh"sv,    "shell"sv, "console"sv,
                                   "diff"sv, "patch"sv, "json"sv,  "yaml"sv};
  const std::string tag = tag_of(fence);
  return std::ranges::find(kNoPrograms, tag) != kNoPrograms.end() && !path.ends_with("." + tag);
}

struct FenceChoice::Candidate {
  const Fence* fence = nullptr;
  Names names;
  bool gives_parent = false;
  bool has_frame = false;
  bool is_named_otherwise = false;
};

FenceChoice::FenceChoice(const Source& parent, const std::string& path)
    : path_(path), language_(language_of(path)) {
  const std::string& text = parent.find(path)->text;
  file_ = without_markers(text);
  const Source file = one_file(path, text);
  const auto blocks = find_blocks(file);
  if (!blocks || blocks->empty()) {
    own_ = names_in(text, language_);
    return;
  }
  Cut parts = cut(text, *blocks);
  std::string open, frozen;
  for (const std::string& block : parts.blocks) open += block + "\n";
  for (const std::string& part : parts.frozen) frozen += part + "\n";
  if (parts.blocks.size() == 1) block_ = without_blanks(open);
  own_ = names_in(open, language_);
  frozen_ = names_in(frozen, language_);
  frozen_text_.emplace(std::move(parts), language_);
}

bool FenceChoice::has_frame(std::string_view text) const {
  if (!frozen_text_) return false;
  const auto blocks = find_blocks(one_file(path_, std::string(text)));
  return (blocks && !blocks->empty()) || frozen_text_->is_whole_file(text);
}

// Whether the tag names plain text, or another language than the candidate's.
bool FenceChoice::speaks_otherwise(const Fence& fence) const {
  const std::string tag = tag_of(fence);
  if (tag == "text" || tag == "txt" || tag == "output") return true;
  const Language language = language_of_tag(tag);
  if (language == Language::other || language_ == Language::other) return false;
  return is_c_like(language) != is_c_like(language_);
}

FenceChoice::Candidate FenceChoice::candidate_of(const Fence& fence) const {
  Candidate candidate{.fence = &fence, .names = names_in(fence.text, language_)};
  const std::string text = without_markers(fence.text);
  candidate.gives_parent = text == file_ || text == block_;
  candidate.has_frame = has_frame(fence.text);
  const std::string path = path_of(fence, {path_});
  candidate.is_named_otherwise = !path.empty() && path != path_;
  return candidate;
}

FenceChoice::Grade FenceChoice::grade_of(const Candidate& candidate, const NameSet& of_others) const {
  if (speaks_otherwise(*candidate.fence)) return Grade::foreign;
  if (candidate.has_frame) return Grade::complete;
  if (in_both(candidate.names.calls, of_others)) return Grade::part;  // FenceChoice.RefusesAProgramInPieces
  // If the blocks define no function (they are within one), a fence that calls that function is an example:
  // FenceChoice.PrefersWhatHasMarkersOrFrozenText.
  const NameSet borrowed = without(candidate.names.calls, own_.calls);
  if (own_.functions.empty()) return in_both(borrowed, frozen_.functions) ? Grade::part : Grade::possible;
  return in_both(candidate.names.functions, own_.functions) ? Grade::complete : Grade::part;
}

// Extract.AFenceWithoutAnEndHoldsAWholeProgram
bool FenceChoice::is_whole(const Fence& fence) const {
  if (grade_of(candidate_of(fence), {}) != Grade::complete) return false;
  const auto code = without_comments(tokenize(fence.text, language_));
  const auto last = std::ranges::find_if(code.rbegin(), code.rend(), [](const Token& token) {
    return token.kind != TokenKind::line_end && token.kind != TokenKind::indent && !token.in_directive;
  });
  if (last == code.rend() || last->depth != 0) return false;
  const std::string_view text = last->in(fence.text);
  return language_ == Language::python ? text != ":" : text == "}" || text == ";";
}

bool FenceChoice::may_be_program(const Fence& fence) const {
  return grade_of(candidate_of(fence), {}) >= Grade::possible;
}

std::variant<const Fence*, Refusal> FenceChoice::best(const std::vector<const Fence*>& fences) const {
  std::vector<Candidate> candidates;
  const Fence* parent = nullptr;  // the last fence that only quotes the parent
  for (const Fence* fence : fences) {
    candidates.push_back(candidate_of(*fence));
    if (!candidates.back().gives_parent) continue;
    parent = fence;
    candidates.pop_back();
  }
  NameSet defined;  // by a candidate, but not by the parent's frozen text
  for (const Candidate& candidate : candidates) defined.merge(NameSet(candidate.names.functions));
  defined = without(defined, frozen_.functions);

  const Candidate* best = nullptr;
  std::pair<Grade, bool> best_rank;
  NameSet best_lacks;
  for (const Candidate& candidate : candidates) {
    const Names& names = candidate.names;
    NameSet lacks = without(defined, names.functions);
    const std::pair rank(grade_of(candidate, lacks), !candidate.is_named_otherwise);
    const bool repeats = best && rank == best_rank && is_excerpt(candidate.fence->text, best->fence->text);
    if (best && (rank < best_rank || repeats)) continue;
    best = &candidate;
    best_rank = rank;
    best_lacks = std::move(lacks);
  }
  if (!best || (parent && best_rank.first < Grade::possible)) return parent;
  const std::string* name = in_both(best->names.calls, best_lacks);
  if (name && best_rank.first == Grade::part)
    return Refusal{RefusalCode::no_code,
                   "the program is spread over several code blocks: the last one calls " + *name +
                       ", which another one defines"};
  return best->fence;
}

}  // namespace kernelsmith::detail
