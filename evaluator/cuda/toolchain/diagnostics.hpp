// What compilers and the linker print, shortened to what helps whoever wrote the candidate. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

/// The folder of a build that holds the candidate's files.
inline constexpr const char* kSourceFolder = "source/";

/// The errors of a log, each once: at most a few, files by their names in the candidate, control bytes
/// escaped. All of it (its end, if it is long) if no error is found in it.
std::string errors_of(std::string_view log);

/// The warnings, in the same form; empty if there is none.
/// A line before the errors if the compiler's own words would mislead; empty elsewhere.
std::string advice_on(std::string_view log);
std::string warnings_of(std::string_view log);

/// The symbols that the linker did not find, each once.
std::vector<std::string> missing_symbols(std::string_view linker_log);

/// Whether a symbol is one of the vendor's runtime or of its libraries, which the planner defines or refuses
/// by name.
bool is_runtime_symbol(std::string_view symbol, const RuntimeNames& names);

}  // namespace kernelsmith::cuda
