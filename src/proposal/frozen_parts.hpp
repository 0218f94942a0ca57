// A file cut into what is frozen and what stands in its EVOLVE-BLOCKs, and a reply's text held against that.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/core/proposal.hpp>

#include "names.hpp"

namespace kernelsmith::detail {

/// A text, cut at its markers.
struct Cut {
  std::vector<std::string> frozen;  ///< with the marker lines; one more than blocks
  std::vector<std::string> blocks;
};

Cut cut(std::string_view text, std::span<const EvolveBlock> blocks);
std::string joined(const Cut& parts);

/// The parts of a frozen text that are not its marker line at the end, or at the beginning.
std::string_view before_marker(std::string_view frozen);
std::string_view behind_marker(std::string_view frozen);

/// Without blanks, line ends and an editor's byte-order mark.
std::string without_blanks(std::string_view text);

/// Whether the texts are the same, blanks and line ends apart.
bool same_but_for_blanks(std::string_view a, std::string_view b);

/// "the frozen line `LIMIT = 5` is `LIMIT = 500` in the reply"; the texts differ by more than blanks.
std::string difference(std::string_view frozen, std::string_view reply);

/// A line that holds something.
struct Line {
  std::string bare;  ///< without any blanks
  std::string raw;   ///< without blanks around it
  bool is_indented = false;
  std::size_t begin = 0, end = 0;  ///< in its text, with the newline
};
using Lines = std::vector<Line>;

/// A file's frozen text, against which replies without markers are held.
class FrozenText {
 public:
  FrozenText(Cut file, Language language);

  /// Whether a text is the whole file: it has the frozen text before the first block or behind the last one,
  /// or defines a name anew that the frozen text defines (and no block does).
  bool is_whole_file(std::string_view text) const;

  /// What a text holds of the blocks. From a whole file the frozen text is left out, and must be the same but
  /// for blanks: `edit_frozen` otherwise. Any other text is what goes into the only block; of several blocks
  /// it is `no_code`.
  std::variant<std::vector<std::string>, Refusal> block_texts(std::string_view text) const;

 private:
  /// What a text has of the beginning and the end of the file.
  struct Extent {
    Lines lines;
    bool has_head = false, has_tail = false;
    std::size_t begin = 0, end = 0;  // the lines between them
  };
  Extent extent_of(std::string_view text) const;
  bool is_whole_file(std::string_view text, const Extent& extent) const;
  bool closes_like(std::size_t block, std::string_view text) const;
  const std::string* redefined(std::size_t part, std::string_view text) const;
  const Line* repeated(std::size_t part, std::string_view text) const;
  Refusal changed(std::size_t part, const Lines& reply, std::string_view name) const;

  Cut file_;
  Language language_;
  std::vector<Lines> parts_;    // the frozen lines, without markers
  std::vector<NameSet> names_;  // what each part defines, and no block does
};

}  // namespace kernelsmith::detail
