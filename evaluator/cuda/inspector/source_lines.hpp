// Makes the command for ncu's page of source lines, and finds the lines with most samples. Pure functions;
// the text may be anything.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/evaluator/gpu_profile.hpp>

#include "inspector/tool.hpp"

namespace kernelsmith::cuda {

/// The lines of one launch.
struct LaunchLines {
  std::string kernel;          ///< as ncu names it
  std::vector<HotLine> lines;  ///< those with samples, the hottest first
};

/// The command for ncu with sampling. `sources` has the candidate's files, for binaries with line information
/// (-lineinfo).
Tool line_profiler(const std::filesystem::path& program, const std::filesystem::path& sources,
                   const std::filesystem::path& log);

/// The launches in ncu's log, in their order. A kernel has a table for each of its files. Empty if there is
/// no table of lines.
std::vector<LaunchLines> lines_in(std::string_view log);

/// Assigns to each profiled launch, in order, the next unused lines with its kernel's name.
void add_lines(const std::vector<LaunchLines>& sampled, std::vector<LaunchProfile>& launches);

}  // namespace kernelsmith::cuda
