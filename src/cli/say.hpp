// Prints all text for people, so that text from models, servers and run folders cannot control a terminal.
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

/// Formats a text and calls put().
template <class... Parts>
void say(std::FILE* stream, fmt::format_string<Parts...> format, Parts&&... parts) {
  put(stream, fmt::format(format, std::forward<Parts>(parts)...));
}

/// Prints to standard output.
template <class... Parts>
void say(fmt::format_string<Parts...> format, Parts&&... parts) {
  put(stdout, fmt::format(format, std::forward<Parts>(parts)...));
}

/// Prints a line to standard error.
void note(const std::string& line);

/// Warns on standard error if everybody on this machine can read the file, which holds a secret.
void warn_of_readers(const std::string& file);

/// The names of a source's files.
std::vector<std::string> paths_of(const Source& source);

/// Prints a note for each misspelt knob to standard error; `paths` are the names of the files.
void warn_of_near_knobs(const Source& source, const std::vector<std::string>& paths);

}  // namespace kernelsmith::cli
