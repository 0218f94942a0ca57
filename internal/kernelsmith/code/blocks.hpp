// EVOLVE-BLOCKs: the parts of a candidate that may change. A marker is a comment that stands alone on its
// line, such as `// EVOLVE-BLOCK-START`. The comment may have any of the forms //, #, !, --, /* */, <!-- -->
// and (* *). Everything outside the blocks is frozen, and so are the markers. A source without any marker may
// change as a whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// One block: the lines between its markers.
struct EvolveBlock {
  std::size_t file = 0;        ///< index in Source::files()
  std::size_t begin = 0;       ///< offset of the first byte after the START line
  std::size_t end = 0;         ///< offset of the first byte of the END line
  std::size_t start_line = 0;  ///< the START marker's line, 1 for the first
  std::size_t end_line = 0;    ///< the END marker's line

  friend bool operator==(const EvolveBlock&, const EvolveBlock&) = default;
};

/// The blocks of all files, in order; empty if there is no marker. Errors: `bad_input` with file:line for a
/// marker that has no partner, is inside another block, or shares its line with code.
Result<std::vector<EvolveBlock>> find_blocks(const Source& source);

/// The regions that may change: the blocks, or every file as a whole if there is no marker at all.
Result<std::vector<EvolveBlock>> open_regions(const Source& source);

/// The texts of find_blocks(), in the same order.
Result<std::vector<std::string>> block_texts(const Source& source);

/// Replaces the texts of the blocks of `source`, with one text for each block. Adds a missing last newline.
/// Errors: `invalid_argument` for a wrong number of texts, `bad_input` for a text with a marker.
Result<Source> with_block_texts(const Source& source, std::span<const std::string> texts);

/// Checks that `child` has the files and blocks of `original` and differs from it only inside the blocks, or
/// in its files' texts if `original` has no marker. Errors: `bad_input` with file:line of the first
/// difference.
Status check_frozen(const Source& original, const Source& child);

}  // namespace kernelsmith
