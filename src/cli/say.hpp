// The one way by which the command prints text for people: what models, servers and run folders put into it
// must not steer a terminal.
#pragma once

#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kernelsmith::cli {

/// Prints the text with control characters escaped.
void put(std::FILE* stream, std::string_view text);

/// put() of a formatted text.
template <class... Parts>
void say(std::FILE* stream, fmt::format_string<Parts...> format, Parts&&... parts) {
  put(stream, fmt::format(format, std::forward<Parts>(parts)...));
}

/// On the standard output.
template <class... Parts>
void say(fmt::format_string<Parts...> format, Parts&&... parts) {
  put(stdout, fmt::format(format, std::forward<Parts>(parts)...));
}

}  // namespace kernelsmith::cli
