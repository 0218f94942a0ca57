#include "file_reply.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/edit.hpp>
#include <kernelsmith/code/text.hpp>

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

Refusal refuse(RefusalCode code, std::string detail) { return {code, std::move(detail)}; }

// Replies come with "\n"; a file keeps its own line ends.
std::string with_line_ends_of(std::string_view model, std::string_view text) {
  const std::string_view line_end = line_end_of(model);
  std::string result;
  for (const std::string_view line : lines_of(text)) result.append(without_newline(line)).append(line_end);
  return result;
}

std::string without_spaces(std::string_view text) {
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result),
                       [](char c) { return " \t\r\n"sv.find(c) == ""sv.npos; });
  return result;
}

// A text that stands for a file, cut at its markers: what is frozen, and what stands in the blocks.
struct Cut {
  std::vector<std::string> frozen;  // one more than blocks
  std::vector<std::string> blocks;
};

Cut cut(std::string_view text, std::span<const EvolveBlock> blocks) {
  Cut result;
  std::size_t begin = 0;
  for (const EvolveBlock& block : blocks) {
    result.frozen.emplace_back(text.substr(begin, block.begin - begin));
    result.blocks.emplace_back(text.substr(block.begin, block.end - block.begin));
    begin = block.end;
  }
  result.frozen.emplace_back(text.substr(begin));
  return result;
}

std::string joined(const Cut& parts) {
  std::string text = parts.frozen.front();
  for (std::size_t i = 0; i < parts.blocks.size(); ++i) text += parts.blocks[i] + parts.frozen[i + 1];
  return text;
}

// The part of a frozen text that is not its marker line.
std::string_view before_marker(std::string_view frozen) {
  const std::size_t end = frozen.rfind('\n', frozen.size() < 2 ? 0 : frozen.size() - 2);
  return end == frozen.npos ? ""sv : frozen.substr(0, end + 1);
}
std::string_view behind_marker(std::string_view frozen) {
  const std::size_t begin = frozen.find('\n');
  return begin == frozen.npos ? ""sv : frozen.substr(begin + 1);
}

// The blocks' texts where the reply left the markers out: the contents of the only block, or the whole file.
std::optional<std::vector<std::string>> texts_without_markers(std::string_view text, const Cut& parent) {
  if (parent.blocks.size() != 1) return std::nullopt;
  const std::string_view head = trimmed(before_marker(parent.frozen[0]));
  const std::string_view tail = trimmed(behind_marker(parent.frozen[1]));
  const std::string_view bare = trimmed(text);
  const bool whole = !(head.empty() && tail.empty()) && bare.size() >= head.size() + tail.size() &&
                     bare.starts_with(head) && bare.ends_with(tail);
  if (!whole) return std::vector{std::string(text)};
  const std::string_view middle = bare.substr(head.size(), bare.size() - head.size() - tail.size());
  return std::vector{std::string(middle.substr(std::min(middle.find_first_not_of("\r\n"), middle.size())))};
}

// The blocks' texts where the reply has the markers: as a whole file, or with nothing but blanks around them.
// Frozen text may differ in white space, which the parent's then puts right.
std::variant<std::vector<std::string>, Refusal> texts_with_markers(const Cut& reply, const Cut& parent) {
  if (reply.blocks.size() != parent.blocks.size()) {
    return refuse(RefusalCode::edit_frozen, "the reply has " + std::to_string(reply.blocks.size()) +
                                                " EVOLVE-BLOCKs where the candidate has " +
                                                std::to_string(parent.blocks.size()));
  }
  const auto same = [](std::string_view a, std::string_view b) {
    return without_spaces(a) == without_spaces(b);
  };
  const std::size_t last = parent.blocks.size();
  const bool bare =
      trimmed(before_marker(reply.frozen[0])).empty() && trimmed(behind_marker(reply.frozen[last])).empty();
  for (std::size_t i = 0; i <= last; ++i) {
    if (same(reply.frozen[i], parent.frozen[i]) || (bare && (i == 0 || i == last))) continue;
    return refuse(RefusalCode::edit_frozen, "the reply changes text outside the EVOLVE-BLOCKs: " +
                                                std::string(trimmed(reply.frozen[i]).substr(0, 80)));
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
    if (without_spaces(new_text) == without_spaces(old_text)) return parent;
    return refuse(RefusalCode::edit_frozen, "the file " + path + " has no EVOLVE-BLOCK and may not change");
  }
  const auto reply_blocks = find_blocks(one_file(path, new_text));
  if (!reply_blocks)
    return refuse(RefusalCode::edit_frozen, "in the reply, " + describe(reply_blocks.error()));

  Cut parts = cut(old_text, own_blocks);
  if (reply_blocks->empty()) {
    auto texts = texts_without_markers(new_text, parts);
    if (!texts)
      return refuse(RefusalCode::no_code, "the reply leaves out the markers of several EVOLVE-BLOCKs");
    parts.blocks = std::move(*texts);
  } else {
    auto texts = texts_with_markers(cut(new_text, *reply_blocks), parts);
    if (auto* refusal = std::get_if<Refusal>(&texts)) return std::move(*refusal);
    parts.blocks = std::move(std::get<0>(texts));
  }
  for (std::string& block : parts.blocks) {
    if (!block.empty() && !block.ends_with('\n')) block += line_end_of(old_text);
  }
  return with_file(parent, path, joined(parts)).value();
}

}  // namespace kernelsmith::detail
