// Where literals, comments and names end. Each function is given the text and the offset of the first byte.
#pragma once

#include <cstddef>
#include <string_view>

namespace kernelsmith::detail {

/// An end, and whether the thing was closed there.
struct Extent {
  std::size_t end = 0;
  bool closed = false;
};

/// The length of a spliced line end (backslash, blanks, newline) at `at`; 0 if there is none.
std::size_t splice_length(std::string_view text, std::size_t at);

/// From the quote at `at` to the same quote; a backslash escapes. Not closed if the line ends first.
Extent quoted(std::string_view text, std::size_t at);

/// From the three quotes at `at` to the next three.
Extent triple_quoted(std::string_view text, std::size_t at);

/// From the quote at `at` of a C++ raw string.
Extent raw_string(std::string_view text, std::size_t at);

/// A block comment; its end may be spliced.
Extent block_comment(std::string_view text, std::size_t at);

/// To the newline that ends the line, or the line that it continues on if `splices` count.
std::size_t line_comment(std::string_view text, std::size_t at, bool splices);

std::size_t identifier(std::string_view text, std::size_t at, bool dollars);

/// A preprocessing number: digits, names, points and signed exponents; `quotes` may group digits.
std::size_t number(std::string_view text, std::size_t at, bool quotes);

/// False for the text of an f-string that may go on behind its end, because its braces are open there or a
/// quote stands within them: Python 3.12 nests strings, and the lexer does not follow it there.
bool f_string_is_flat(std::string_view token);

}  // namespace kernelsmith::detail
