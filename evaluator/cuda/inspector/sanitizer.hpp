// compute-sanitizer: how it is started, and what its log says. Pure functions.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

/// What is looked for: accesses out of bounds, races on shared memory, reads of global memory that nothing
/// wrote.
inline constexpr std::array<std::string_view, 3> kSanitizers = {"memcheck", "racecheck", "initcheck"};

Tool sanitizer(const std::filesystem::path& program, std::string_view which,
               const std::filesystem::path& log);

/// How the tool ends when it found something.
inline constexpr std::string_view kFound = "exit status 77";

/// The findings of a log, without the tool's own frame: at most the first few, for a person and a model.
/// Empty if it holds none.
std::string findings_in(std::string_view log);

}  // namespace kernelsmith::cuda
