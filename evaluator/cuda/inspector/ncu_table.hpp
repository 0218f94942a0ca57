// Parses ncu's tables of comma-separated values. Pure functions; the text may be anything.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

/// The fields of a line of ncu's table, in which every field is quoted.
std::vector<std::string> table_fields(std::string_view line);

/// A number in ncu's format, such as "1,234.5".
std::optional<double> table_number(std::string text);

std::vector<std::string_view> table_lines(std::string_view text);

/// The reason why ncu printed no table, in ncu's words if it gave any, safe for a terminal.
std::string words_of_ncu(std::string_view log);

/// One launch. Counters that ncu did not report are missing.
struct LaunchCounters {
  std::string kernel;
  std::map<std::string, double> values;  ///< by ncu's names, in base units (nanoseconds, percent)
};

/// The launches in ncu's log (--csv --page raw), in their order. Errors: bad_input, with ncu's message, such
/// as that counters are reserved for administrators.
Result<std::vector<LaunchCounters>> counters_in(std::string_view log);

}  // namespace kernelsmith::cuda
