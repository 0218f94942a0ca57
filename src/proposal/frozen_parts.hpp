// Divides a file into frozen text and EVOLVE-BLOCKs, and compares a reply's text with them.
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

/// A frozen text without its marker line at the end, or at the beginning.
std::string_view before_marker(std::string_view frozen);
std::string_view behind_marker(std::string_view frozen);

/// The text without blanks, line ends and an editor's byte-order mark.
std::string without_blanks(std::string_view text);

/// Whether the texts are equal, ignoring blanks and line ends.
bool same_but_for_blanks(std::string_view a, std::string_view b);

/// Such as "the frozen line `LIMIT = 5` is `LIMIT = 500` in the reply". The texts differ by more than blanks.
std::string difference(std::string_view frozen, std::string_view reply);

/// A line that is not blank.
struct Line {
  std::string bare;  ///< without any blanks
  std::string raw;   ///< without blanks around it
  bool is_indented = false;
  std::size_t begin = 0, end = 0;  ///< in its text, with the newline
};
using Lines = std::vector<Line>;

/// A file's frozen text, for comparison with replies without markers.
class FrozenText {
 public:
  FrozenText(Cut file, Language language);

  /// Whether a text is the whole file: it has the frozen text before the first block or behind the last one,
  /// or redefines a name of the frozen text that no block defines.
  bool is_whole_file(std::string_view text) const;

  /// The contents of the blocks in a text. In a whole file the frozen text must be equal except for blanks
  /// (`edit_frozen` otherwise) and is left out. Any other text is the content of the only block; with several
  /// blocks it is `no_code`.
  std::variant<std::vector<std::string>, Refusal> block_texts(std::string_view text) const;

 private:
  /// The parts of the file's beginning and end in a text.
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
  std::vector<NameSet> names_;  // names defined by each part and by no block
};

}  // namespace kernelsmith::detail
