#include "file_reply.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/code/text.hpp>

#include "frozen_parts.hpp"
#include "refuse.hpp"

namespace kernelsmith::detail {
namespace {

// Replies come with "\n"; a file keeps its own line ends.
std::string with_line_ends_of(std::string_view model, std::string_view text) {
  const std::string_view line_end = line_end_of(model);
  std::string result;
  for (const std::string_view line : lines_of(text)) result.append(without_newline(line)).append(line_end);
  return result;
}

// The blocks' texts if the reply has the markers. The frozen text before the first block and after the last
// may be missing or replaced by comments. All other frozen text may differ in blanks, and the parent's is
// used.
std::variant<std::vector<std::string>, Refusal> texts_with_markers(const Cut& reply, const Cut& parent,
                                                                   Language language) {
  if (reply.blocks.size() != parent.blocks.size()) {
    return refuse(RefusalCode::edit_frozen, "the reply has " + std::to_string(reply.blocks.size()) +
                                                " EVOLVE-BLOCKs where the candidate has " +
                                                std::to_string(parent.blocks.size()));
  }
  const std::size_t last = parent.blocks.size();
  const auto says_nothing = [&](std::string_view text) {
    return trimmed(text).empty() || without_comments(tokenize(text, language)).empty();
  };
  const bool no_head = says_nothing(before_marker(reply.frozen.front()));
  const bool no_tail = says_nothing(behind_marker(reply.frozen.back()));
  for (std::size_t i = 0; i <= last; ++i) {
    const bool left_out = (i == 0 && no_head) || (i == last && no_tail);
    if (left_out || same_but_for_blanks(reply.frozen[i], parent.frozen[i])) continue;
    return refuse(RefusalCode::edit_frozen, "the reply changes text outside the EVOLVE-BLOCKs: " +
                                                difference(parent.frozen[i], reply.frozen[i]));
  }
  return reply.blocks;
}

}  // namespace

Source one_file(const std::string& path, std::string text) {
  return Source::create({{path, std::move(text)}}).value();
}

std::variant<Source, Refusal> with_reply(const Source& parent, const std::string& path,
                                         std::string_view text) {
  const auto& files = parent.files();
  const auto index = static_cast<std::size_t>(parent.find(path) - files.data());
  const auto parent_blocks = find_blocks(parent);
  if (!parent_blocks)
    return refuse(RefusalCode::edit_frozen, "in the parent, " + describe(parent_blocks.error()));
  const std::string_view old_text = files[index].text;
  const std::string new_text = with_line_ends_of(old_text, text);
  if (parent_blocks->empty()) return with_file(parent, path, new_text).value();

  std::vector<EvolveBlock> own_blocks;
  std::ranges::copy_if(*parent_blocks, std::back_inserter(own_blocks),
                       [&](const EvolveBlock& block) { return block.file == index; });
  if (own_blocks.empty()) {
    if (same_but_for_blanks(new_text, old_text)) return parent;
    return refuse(RefusalCode::edit_frozen, "the file " + path + " has no EVOLVE-BLOCK and may not change");
  }
  const auto reply_blocks = find_blocks(one_file(path, new_text));
  if (!reply_blocks)
    return refuse(RefusalCode::edit_frozen, "in the reply, " + describe(reply_blocks.error()));

  Cut parts = cut(old_text, own_blocks);
  if (reply_blocks->empty()) {
    auto texts = FrozenText(parts, language_of(path)).block_texts(new_text);
    if (auto* refusal = std::get_if<Refusal>(&texts)) return std::move(*refusal);
    parts.blocks = std::move(std::get<0>(texts));
  } else {
    auto texts = texts_with_markers(cut(new_text, *reply_blocks), parts, language_of(path));
    if (auto* refusal = std::get_if<Refusal>(&texts)) return std::move(*refusal);
    parts.blocks = std::move(std::get<0>(texts));
  }
  for (std::string& block : parts.blocks) {
    if (!block.empty() && !block.ends_with('\n')) block += line_end_of(old_text);
  }
  return with_file(parent, path, joined(parts)).value();
}

}  // namespace kernelsmith::detail
