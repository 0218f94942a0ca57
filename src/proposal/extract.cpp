#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "fences.hpp"
#include "file_reply.hpp"

namespace kernelsmith {
namespace {

using namespace std::string_view_literals;
using namespace detail;
using Extraction = std::variant<Source, Refusal>;

Refusal refuse(RefusalCode code, std::string detail) { return {code, std::move(detail)}; }

bool has_file(const Source& source, std::string_view path) { return source.find(path) != nullptr; }

std::vector<std::string> paths_of(const Source& source) {
  std::vector<std::string> paths;
  for (const SourceFile& file : source.files()) paths.push_back(file.path);
  return paths;
}

// What a fence without a file's name is worth as the candidate's text; the highest is taken.
auto rank_of(const Fence& fence, const Source& parent) {
  constexpr std::array kNoPrograms{"bash"sv, "sh"sv,   "shell"sv, "console"sv, "text"sv,    "txt"sv,
                                   "diff"sv, "json"sv, "yaml"sv,  "output"sv,  "markdown"sv};
  const bool program = std::ranges::find(kNoPrograms, fence.info) == kNoPrograms.end();
  const auto blocks = find_blocks(one_file(parent.files().front().path, fence.text));
  return std::tuple(program, !blocks || !blocks->empty(), fence.text.size());
}

// The (path, text) pairs that the fences stand for.
std::vector<std::pair<std::string, std::string>> named_texts(const std::vector<Fence>& fences,
                                                             const Source& parent) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Fence& fence : fences) {
    if (std::string path = path_of(fence, paths_of(parent)); !path.empty())
      texts.emplace_back(path, fence.text);
  }
  if (!texts.empty() || fences.empty()) return texts;
  const Fence* best = &fences.front();
  for (const Fence& fence : fences) {
    if (rank_of(fence, parent) >= rank_of(*best, parent)) best = &fence;
  }
  texts.emplace_back(parent.files().front().path, best->text);
  return texts;
}

// The lines of an unfenced reply from its first marker to its last; empty where there are none.
std::string_view between_markers(std::string_view reply) {
  const auto blocks = find_blocks(one_file("reply", std::string(reply)));
  if (!blocks || blocks->empty()) return {};
  const auto lines = lines_of(reply);
  const std::string_view last = lines[blocks->back().end_line - 1];
  const char* begin = lines[blocks->front().start_line - 1].data();
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

Refusal without_code(std::string_view reply) {
  constexpr std::array kDeclines{"I'm sorry"sv, "I am sorry"sv, "Sorry"sv,
                                 "I can't"sv,   "I cannot"sv,   "I can’t"sv};
  const std::string_view text = trimmed(reply);
  const bool declined = std::ranges::any_of(kDeclines, [&](auto words) { return text.starts_with(words); });
  return refuse(declined ? RefusalCode::declined : RefusalCode::no_code,
                "the reply holds no fenced code: " + std::string(text.substr(0, 80)));
}

Extraction extract_edits(std::string_view reply, const Source& parent) {
  const auto edits = parse_edits(reply);
  if (!edits) return refuse(RefusalCode::truncated, describe(edits.error()));
  if (edits->empty()) return refuse(RefusalCode::no_code, "the reply holds no SEARCH/REPLACE edit");
  auto outcome = apply_edits(parent, *edits);
  if (const auto* fault = std::get_if<EditFault>(&outcome)) {
    const bool unmatched = fault->kind == EditFault::Kind::unmatched;
    return refuse(unmatched ? RefusalCode::edit_unmatched : RefusalCode::edit_ambiguous, fault->detail);
  }
  return std::get<Source>(std::move(outcome));
}

Extraction extract_files(std::string_view reply, const Source& parent) {
  if (holds_edits(reply)) return refuse(RefusalCode::no_code, "edits where whole files were asked for");
  const auto fences = find_fences(reply);
  if (!fences.empty() && !fences.back().closed) {
    return refuse(RefusalCode::truncated, "the last code fence is not closed");
  }
  auto texts = named_texts(fences, parent);
  if (texts.empty()) {
    const std::string_view text = between_markers(reply);
    if (text.empty()) return without_code(reply);
    texts.emplace_back(parent.files().front().path, text);
  }
  Source child = parent;
  for (const auto& [path, text] : texts) {
    if (!has_file(parent, path)) return refuse(RefusalCode::bad_path, "the candidate has no file " + path);
    if (trimmed(text).empty()) return refuse(RefusalCode::no_code, "an empty text for " + path);
    auto outcome = with_reply(child, path, text);
    if (std::holds_alternative<Refusal>(outcome)) return outcome;
    child = std::get<Source>(std::move(outcome));
  }
  return child;
}

}  // namespace

std::variant<Source, Refusal> extract(std::string_view reply, const Source& parent, ReplyForm form,
                                      bool cut_off) {
  if (trimmed(reply).empty()) return refuse(RefusalCode::empty_reply, "the reply is empty");
  if (cut_off) return refuse(RefusalCode::truncated, "the reply ended at its length limit");
  if (parent.empty()) return refuse(RefusalCode::no_code, "the parent has no file to be rewritten");
  const bool edits = form == ReplyForm::edits || (form == ReplyForm::either && holds_edits(reply));
  Extraction outcome = edits ? extract_edits(reply, parent) : extract_files(reply, parent);
  if (const auto* child = std::get_if<Source>(&outcome)) {
    const Status frozen = check_frozen(parent, *child);
    if (!frozen) return refuse(RefusalCode::edit_frozen, describe(frozen.error()));
  }
  return outcome;
}

}  // namespace kernelsmith
