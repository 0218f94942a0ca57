#include <algorithm>
#include <optional>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/text.hpp>

#include "markers.hpp"

namespace kernelsmith {
namespace {

using namespace detail;

Error marker_error(const SourceFile& file, std::size_t line, std::string message, std::string hint) {
  return fail(ErrorCode::bad_input, std::move(message), file.path + ":" + std::to_string(line),
              std::move(hint));
}

// Appends the blocks of one file to `blocks`.
Status add_blocks(const SourceFile& file, std::size_t index, std::vector<EvolveBlock>& blocks) {
  std::optional<EvolveBlock> open;
  std::size_t offset = 0;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    switch (marker_of(line)) {
      case Marker::none:
        break;
      case Marker::misplaced:
        return marker_error(file, number, "an EVOLVE-BLOCK marker that does not stand alone on its line",
                            "put the marker in a comment on its own line");
      case Marker::start:
        if (open) {
          return marker_error(
              file, number,
              "EVOLVE-BLOCK-START inside the block that began at line " + std::to_string(open->start_line),
              "end that block first; blocks do not nest");
        }
        open = EvolveBlock{index, offset + line.size(), 0, number, 0};
        break;
      case Marker::end:
        if (!open) {
          return marker_error(file, number, "EVOLVE-BLOCK-END without an EVOLVE-BLOCK-START before it",
                              "mark where the block begins");
        }
        open->end = offset;
        open->end_line = number;
        blocks.push_back(*open);
        open.reset();
        break;
    }
    offset += line.size();
  }
  if (open) {
    return marker_error(file, open->start_line, "EVOLVE-BLOCK-START without an EVOLVE-BLOCK-END after it",
                        "mark where the block ends");
  }
  return {};
}

// The frozen texts of one file: before, between and after its blocks.
std::vector<std::string_view> frozen_texts(std::string_view text, std::span<const EvolveBlock> blocks) {
  std::vector<std::string_view> texts;
  std::size_t begin = 0;
  for (const EvolveBlock& block : blocks) {
    texts.push_back(text.substr(begin, block.begin - begin));
    begin = block.end;
  }
  texts.push_back(text.substr(begin));
  return texts;
}

std::span<const EvolveBlock> blocks_in(const std::vector<EvolveBlock>& blocks, std::size_t file) {
  const auto first = std::ranges::lower_bound(blocks, file, {}, &EvolveBlock::file);
  const auto last = std::ranges::upper_bound(blocks, file, {}, &EvolveBlock::file);
  return {first, last};
}

Status check_same_files(const Source& original, const Source& child) {
  const auto& old_files = original.files();
  const auto& new_files = child.files();
  const auto [old_file, new_file] =
      std::ranges::mismatch(old_files, new_files, {}, &SourceFile::path, &SourceFile::path);
  if (old_file == old_files.end() && new_file == new_files.end()) return {};
  const std::string& path = old_file != old_files.end() ? old_file->path : new_file->path;
  return fail(ErrorCode::bad_input, "the files are not those of the original, in its order", path,
              "keep every file, and add none");
}

Status check_frozen_file(const SourceFile& original, std::span<const EvolveBlock> old_blocks,
                         const SourceFile& child, std::span<const EvolveBlock> new_blocks) {
  if (old_blocks.size() != new_blocks.size()) {
    return fail(ErrorCode::bad_input,
                "has " + std::to_string(new_blocks.size()) + " EVOLVE-BLOCKs where the original has " +
                    std::to_string(old_blocks.size()),
                child.path, "keep every marker, and add none");
  }
  const auto old_texts = frozen_texts(original.text, old_blocks);
  const auto new_texts = frozen_texts(child.text, new_blocks);
  for (std::size_t i = 0; i < old_texts.size(); ++i) {
    if (old_texts[i] == new_texts[i]) continue;
    const auto differs = std::ranges::mismatch(old_texts[i], new_texts[i]).in2 - new_texts[i].begin();
    const auto offset = static_cast<std::size_t>(new_texts[i].data() - child.text.data() + differs);
    return fail(ErrorCode::bad_input, "text outside the EVOLVE-BLOCKs was changed",
                child.path + ":" + std::to_string(line_at(child.text, offset)),
                "change only the text between the markers");
  }
  return {};
}

}  // namespace

Result<std::vector<EvolveBlock>> find_blocks(const Source& source) {
  std::vector<EvolveBlock> blocks;
  for (std::size_t i = 0; i < source.files().size(); ++i) {
    if (Status status = add_blocks(source.files()[i], i, blocks); !status) return status.error();
  }
  return blocks;
}

Result<std::vector<EvolveBlock>> open_regions(const Source& source) {
  auto regions = find_blocks(source);
  if (!regions || !regions->empty()) return regions;
  for (std::size_t i = 0; i < source.files().size(); ++i) {
    const std::string& text = source.files()[i].text;
    regions->push_back({i, 0, text.size(), 0, line_at(text, text.size()) + 1});
  }
  return regions;
}

Result<std::vector<std::string>> block_texts(const Source& source) {
  const auto blocks = find_blocks(source);
  if (!blocks) return blocks.error();
  std::vector<std::string> texts;
  for (const EvolveBlock& block : *blocks) {
    texts.push_back(source.files()[block.file].text.substr(block.begin, block.end - block.begin));
  }
  return texts;
}

Result<Source> with_block_texts(const Source& source, std::span<const std::string> texts) {
  const auto blocks = find_blocks(source);
  if (!blocks) return blocks.error();
  if (texts.size() != blocks->size()) {
    return fail(ErrorCode::invalid_argument, std::to_string(texts.size()) + " texts for " +
                                                 std::to_string(blocks->size()) + " EVOLVE-BLOCKs");
  }
  std::vector<SourceFile> files = source.files();
  for (std::size_t i = texts.size(); i-- > 0;) {  // backwards, so that earlier offsets stay valid
    const EvolveBlock& block = (*blocks)[i];
    const bool needs_newline = !texts[i].empty() && !texts[i].ends_with('\n');
    files[block.file].text.replace(block.begin, block.end - block.begin,
                                   texts[i] + (needs_newline ? "\n" : ""));
  }
  Result<Source> child = Source::create(std::move(files));
  if (!child) return child;
  if (Status status = check_frozen(source, *child); !status) return status.error();
  return child;
}

Status check_frozen(const Source& original, const Source& child) {
  if (Status status = check_same_files(original, child); !status) return status;
  const auto old_blocks = find_blocks(original);
  if (!old_blocks) return old_blocks.error();
  if (old_blocks->empty()) return {};
  const auto new_blocks = find_blocks(child);
  if (!new_blocks) return new_blocks.error();
  for (std::size_t i = 0; i < original.files().size(); ++i) {
    Status status = check_frozen_file(original.files()[i], blocks_in(*old_blocks, i), child.files()[i],
                                      blocks_in(*new_blocks, i));
    if (!status) return status;
  }
  return {};
}

}  // namespace kernelsmith
