// Finds the ends of literals, comments and names. Each function takes the text and the offset of the first
// byte.
#pragma once

#include <cstddef>
#include <string_view>

namespace kernelsmith::detail {

/// Where a literal or comment ends, and whether it is closed there.
struct Extent {
  std::size_t end = 0;
  bool closed = false;
};

/// The length of a spliced line end (backslash, blanks, newline) at `at`; 0 if there is none.
std::size_t splice_length(std::string_view text, std::size_t at);

/// A string from the quote at `at` to the next such quote. A backslash escapes the byte after it. The string
/// is not closed if the line ends first.
Extent quoted(std::string_view text, std::size_t at);

/// A string from the three quotes at `at` to the next three.
Extent triple_quoted(std::string_view text, std::size_t at);

/// A C++ raw string from the quote at `at`.
Extent raw_string(std::string_view text, std::size_t at);

/// A block comment. Its closing sign may be spliced.
Extent block_comment(std::string_view text, std::size_t at);

/// A line comment: ends at the newline, or after continued lines if `splices` is set.
std::size_t line_comment(std::string_view text, std::size_t at, bool splices);

std::size_t identifier(std::string_view text, std::size_t at, bool dollars);

/// A preprocessing number: digits, names, points and signed exponents. If `quotes` is set, quotes may group
/// digits.
std::size_t number(std::string_view text, std::size_t at, bool quotes);

/// Returns false for an f-string that may continue after its apparent end, because braces are open there or
/// contain a quote: Python 3.12 nests strings, and the lexer does not support that.
bool f_string_is_flat(std::string_view token);

}  // namespace kernelsmith::detail
