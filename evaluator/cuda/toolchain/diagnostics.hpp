// Shortens the output of compilers and the linker to what helps the candidate's author. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

/// The build's folder with the candidate's files.
inline constexpr const char* kSourceFolder = "source/";

/// The first few errors of a log without duplicates, with the candidate's file names and escaped control
/// bytes. If no error is found, the whole log (its end, if it is long).
std::string errors_of(std::string_view log);

/// advice_on() gives a line to put before the errors, or nothing if the compiler's message does not mislead.
/// warnings_of() gives the warnings in the form of errors_of(), or nothing if there are none.
std::string advice_on(std::string_view log);
std::string warnings_of(std::string_view log);

/// The symbols that the linker did not find, each once.
std::vector<std::string> missing_symbols(std::string_view linker_log);

/// Whether a symbol belongs to the vendor's runtime or libraries, which the planner defines or refuses by
/// name.
bool is_runtime_symbol(std::string_view symbol, const RuntimeNames& names);

}  // namespace kernelsmith::cuda
