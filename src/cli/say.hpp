// The one way by which the command prints text for people: what models, servers and run folders put into it
// must not steer a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/core/source.hpp>

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

/// A line on the standard error.
void note(const std::string& line);

/// A warning on the standard error if everybody on this machine can read the file, which holds a secret.
void warn_of_readers(const std::string& file);

/// The names of a source's files.
std::vector<std::string> paths_of(const Source& source);

/// A note for each comment that nearly makes a knob, on the standard error; `paths` are what its files are
/// called.
void warn_of_near_knobs(const Source& source, const std::vector<std::string>& paths);

}  // namespace kernelsmith::cli
