// Text from outside, made fit for terminals and logs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelsmith {

/// Bytes of the character that `text` begins with (UTF-8, Unicode 15, table 3-7); 0 if it begins with none.
std::size_t utf8_length(std::string_view text);

/// `text` with every control character but newline and tab, every mark that turns the direction of a text,
/// and every byte that is no valid UTF-8, written as \xNN: what a candidate prints must not steer a terminal.
std::string escape_controls(std::string_view text);

/// A word as a shell reads it back: in single quotes if it has to be.
std::string shell_word(const std::string& word);

/// JSON text with those of these characters that JSON lets stand in its strings written as \uNNNN: the same
/// value, fit for a terminal.
std::string escape_controls_in_json(std::string_view json);

}  // namespace kernelsmith
