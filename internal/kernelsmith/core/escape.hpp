// Makes untrusted text safe for terminals and logs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsmith {

/// The length of the first UTF-8 character of `text` (Unicode 15, table 3-7); 0 if it is invalid.
std::size_t utf8_length(std::string_view text);

/// Writes these as \xNN, so that a candidate's output cannot control a terminal: control characters except
/// newline and tab, marks that change the direction of text, and bytes that are not valid UTF-8.
std::string escape_controls(std::string_view text);

/// Quotes a word for a shell, with single quotes if necessary.
std::string shell_word(const std::string& word);

/// Writes such characters in the strings of a JSON text as \uNNNN. The text means the same and is safe for a
/// terminal.
std::string escape_controls_in_json(std::string_view json);

}  // namespace kernelsmith
