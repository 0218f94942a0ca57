// SEARCH/REPLACE edits, in the form that models are asked for:
//   <<<<<<< SEARCH / lines to find / ======= / lines to put in their place / >>>>>>> REPLACE
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// One edit. Both texts are whole lines, each with its "\n"; either may be empty.
struct Edit {
  std::string search;
  std::string replace;
  std::size_t line = 0;   ///< of its `<<<<<<< SEARCH` in the text it was parsed from, 1 for the first
  std::string path = {};  ///< that stands behind its `<<<<<<< SEARCH`; usually empty

  friend bool operator==(const Edit&, const Edit&) = default;
};

/// True if some line begins an edit.
bool holds_edits(std::string_view text);

/// The edits in `text`, with anything around them. Line ends may be CRLF, markers have five signs or more and
/// a word in any case. Behind SEARCH there may be a colon and a file's name; `>>>>>>> REPLACE` may stand at
/// the end of the replacement's last line, and a fence's end or the next edit directly behind it.
/// `bad_input`, at its line and by its number, for an edit that has no `=======` or no `>>>>>>> REPLACE`, or
/// something else behind its SEARCH.
Result<std::vector<Edit>> parse_edits(std::string_view text);

/// Why an edit could not be applied.
struct EditFault {
  enum class Kind {
    unmatched,
    ambiguous,
    conflict,  ///< two edits change the same lines
    no_file,   ///< the source has several files, and not the one that the edit names
    too_many,  ///< the edits and the source's lines together: finding them all would take long
  } kind = Kind::unmatched;
  std::size_t edit = 0;  ///< its index
  std::string detail;    ///< "edit 2 (`for (int i = 0; ...`) occurs nowhere in the source"

  friend bool operator==(const EditFault&, const EditFault&) = default;
};

/// `source` after the edits. Each must match, line for line, at one place of all the files, or of the file
/// that it names (with one file every name is taken for it). All are found in `source` as it is; what is
/// absent there is found in the result of the others, one after another. The same edit twice counts once.
/// Lines that an edit repeats at the beginning or end of its replacement only say where it is: two may share
/// them, but not the lines that they change, nor the place where they add some. If nothing matches
/// exactly, blanks at the ends of lines may differ; if nothing matches so either, the indentation may, by
/// the same tabs or blanks in each line, by which the replacement is shifted too. A file's line ends (LF,
/// CRLF) are kept. The work is bounded: a hundred million lines are compared, or moved in memory, at most
/// (`too_many`).
std::variant<Source, EditFault> apply_edits(const Source& source, const std::vector<Edit>& edits);

/// `source` with one file's text replaced. `not_found` if it has no such file.
Result<Source> with_file(const Source& source, std::string_view path, std::string text);

}  // namespace kernelsmith
