// Makes foreign texts safe for a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// Makes UTF-8 well-formed: each invalid byte and each NUL becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

/// The last `bytes` bytes of a text or a little less, after a line that says how much was left out. The end
/// is kept because a compiler's errors come last. The cut is between lines if a line ends in the kept part;
/// else it is between words, so that no identifier, number or character is split.
std::string tail_of(std::string_view text, std::size_t bytes);

/// `text` as a fenced block. The fence is longer than any run of backticks in the text. There is no newline
/// at the end.
std::string fenced(std::string_view text, std::string_view info = {});

}  // namespace kernelsmith::detail
