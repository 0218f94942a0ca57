// Text from outside, made fit for terminals and logs.
#pragma once

#include <string>
#include <string_view>

namespace kernelsmith {

/// `text` with every control byte but newline and tab, and every byte that is no valid UTF-8, written as
/// \xNN: what a candidate prints must not steer a terminal.
std::string escape_controls(std::string_view text);

}  // namespace kernelsmith
