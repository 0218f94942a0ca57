// Lines and letters of a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith {

/// Without white space at both ends.
std::string_view trimmed(std::string_view text);

/// With ASCII letters in lower case, whatever the locale is.
std::string lower_case(std::string_view text);

/// The lines, each with its newline; joined they are `text`. An empty text has none.
std::vector<std::string_view> lines_of(std::string_view text);

/// Without "\n" or "\r\n" at the end.
std::string_view without_newline(std::string_view line);

/// The line that `offset` lies on, 1 for the first.
std::size_t line_at(std::string_view text, std::size_t offset);

/// "\r\n" if the text has such a line end, else "\n".
std::string_view line_end_of(std::string_view text);

}  // namespace kernelsmith
