// SEARCH/REPLACE edits, in the form that prompts ask for:
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
  std::size_t line = 0;   ///< line of its `<<<<<<< SEARCH` in the parsed text, from 1
  std::string path = {};  ///< the name after its `<<<<<<< SEARCH`; usually empty

  friend bool operator==(const Edit&, const Edit&) = default;
};

/// Returns true if a line begins an edit.
bool holds_edits(std::string_view text);

/// Parses the edits in `text` and ignores the text around them. Line ends may be CRLF. Markers have five or
/// more signs and a word in any case. A colon and a file's name may follow SEARCH. `>>>>>>> REPLACE` may
/// stand at the end of the replacement's last line. The end of a fence or the next edit may follow it on the
/// same line. Errors: `bad_input`, with the line and the edit's number, for an edit without `=======` or
/// `>>>>>>> REPLACE`, or with other text after SEARCH.
Result<std::vector<Edit>> parse_edits(std::string_view text);

/// Why an edit could not be applied.
struct EditFault {
  enum class Kind {
    unmatched,
    ambiguous,
    conflict,  ///< two edits change the same lines
    no_file,   ///< the source has several files, but not the one that the edit names
    too_many,  ///< the edits and the source are so large that finding all edits would take long
  } kind = Kind::unmatched;
  std::size_t edit = 0;  ///< the edit's index
  std::string detail;    ///< "edit 2 (`for (int i = 0; ...`) occurs nowhere in the source"

  friend bool operator==(const EditFault&, const EditFault&) = default;
};

/// Applies the edits to `source`. The SEARCH text of each edit must match, line for line, at exactly one
/// place in all files, or in the file that the edit names (if there is a single file, every name is
/// accepted). Edits are looked up in the original `source`. Edits that are not found there are looked up, one
/// after another, in the result of the others. Duplicate edits count once. Lines that an edit repeats at the
/// beginning or end of its replacement are context: two edits may share context, but not the lines that they
/// change or the place where they add lines. If nothing matches exactly, trailing blanks may differ. If that
/// fails too, the indentation may differ by the same tabs or blanks in each line. The replacement is then
/// indented by these as well. A file's line ends (LF, CRLF) are kept. At most a hundred million lines are
/// compared or moved in memory (`too_many`).
std::variant<Source, EditFault> apply_edits(const Source& source, const std::vector<Edit>& edits);

/// Replaces the text of one file of `source`. Errors: `not_found` if `source` has no such file.
Result<Source> with_file(const Source& source, std::string_view path, std::string text);

}  // namespace kernelsmith
