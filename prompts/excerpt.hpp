// Texts of others, made fit to stand in a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// Well-formed UTF-8: each byte that is not becomes U+FFFD; NUL bytes too.
std::string as_utf8(std::string_view bytes);

/// The last `bytes` of a text or a little less, with a line before them that says how much was left out: what
/// a compiler has to say stands at the end. The cut is between lines if a line ends in the kept part, else
/// between words: an identifier, a number or a character is kept whole or not at all.
std::string tail_of(std::string_view text, std::size_t bytes);

/// `text` as a fenced block: the fence is longer than any run of backticks in it. No newline at the end.
std::string fenced(std::string_view text, std::string_view info = {});

}  // namespace kernelsmith::detail
