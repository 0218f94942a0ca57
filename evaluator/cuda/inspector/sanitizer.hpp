// Makes compute-sanitizer's command and reads its log. Pure functions.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

/// The checks of compute-sanitizer: accesses out of bounds, races on shared memory, reads of global memory
/// that nothing wrote.
inline constexpr std::array<std::string_view, 3> kSanitizers = {"memcheck", "racecheck", "initcheck"};

Tool sanitizer(const std::filesystem::path& program, std::string_view which,
               const std::filesystem::path& log);

/// The tool's exit status after a finding.
inline constexpr std::string_view kFound = "exit status 77";

/// The first few findings of a log, without the tool's own lines, for people and models. Empty if there are
/// none.
std::string findings_in(std::string_view log);

}  // namespace kernelsmith::cuda
