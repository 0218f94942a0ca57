// Makes foreign texts safe for a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// Makes UTF-8 well-formed: each invalid byte and NUL becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

/// The last `bytes` of a text or a little less, after a line that says how much was left out, because a
/// compiler's errors come last. The cut is between lines if a line ends in the kept part, else between words:
/// an identifier, a number or a character is kept whole or not at all.
std::string tail_of(std::string_view text, std::size_t bytes);

/// `text` as a fenced block: the fence is longer than any run of backticks in it. No newline at the end.
std::string fenced(std::string_view text, std::string_view info = {});

}  // namespace kernelsmith::detail
