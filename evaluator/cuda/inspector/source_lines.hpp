// ncu's page of a kernel's source lines: how it is asked for, and which lines took most samples. Pure
// functions; the text may be anything.
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

/// ncu, sampling. `sources` holds the candidate's files, for binaries with line information (-lineinfo).
Tool line_profiler(const std::filesystem::path& program, const std::filesystem::path& sources,
                   const std::filesystem::path& log);

/// The launches in ncu's log, in their order. A kernel has a table for each of its files. Empty if there is
/// no table of lines.
std::vector<LaunchLines> lines_in(std::string_view log);

/// Gives each counted launch the next lines of its name, in order.
void add_lines(const std::vector<LaunchLines>& sampled, std::vector<LaunchProfile>& launches);

}  // namespace kernelsmith::cuda
