// ncu: how it is started, what its table holds, and what that means, in sentences. Pure functions.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

Tool profiler(const std::filesystem::path& program, const std::filesystem::path& log);

/// One launch. A counter that ncu did not give is missing.
struct LaunchCounters {
  std::string kernel;
  std::map<std::string, double> values;  ///< by ncu's name, in base units (nanoseconds, percent)
};

/// The launches in ncu's log (--csv --page raw), in their order. Errors: bad_input, with ncu's own words,
/// such as that the counters are reserved for administrators.
Result<std::vector<LaunchCounters>> counters_in(std::string_view log);

/// What bounds the longest launch, how the others' times compare, and what usually helps: a few sentences.
std::string advice_of(const std::vector<LaunchCounters>& launches);

}  // namespace kernelsmith::cuda
