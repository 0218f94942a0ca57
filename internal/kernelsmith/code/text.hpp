// Lines and letters of a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith {

/// The text without white space at both ends.
std::string_view trimmed(std::string_view text);

/// The text with ASCII letters in lower case, independent of the locale.
std::string lower_case(std::string_view text);

/// The lines of `text`, each with its newline. An empty text has no lines.
std::vector<std::string_view> lines_of(std::string_view text);

/// The line without "\n" or "\r\n" at the end.
std::string_view without_newline(std::string_view line);

/// The number of the line at `offset`, from 1.
std::size_t line_at(std::string_view text, std::size_t offset);

/// "\r\n" if the text has such a line end, else "\n".
std::string_view line_end_of(std::string_view text);

}  // namespace kernelsmith
