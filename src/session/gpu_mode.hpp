// A problem of GPU MODE's reference-kernels.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "arena_yaml.hpp"

namespace kernelsmith::arena {

/// What its task.yml says.
struct GpuModeProblem {
  std::string language = "py", description, ranking = "last";
  bool multi_gpu = false, has_seed = false;
  std::vector<std::pair<std::string, std::string>> modules = {};  ///< names of files and where they lie
  std::vector<TaskWorkload> workloads = {};                       ///< benchmarks, then tests
  std::optional<std::pair<double, double>> tolerance = {};        ///< rtol and atol, if the check is no other
  std::size_t cases = 0, left_out = 0;
};

/// Whether a line of the text begins so.
bool has_line(std::string_view text, std::string_view start);

/// The modules that the reference imports, the reference as it is, and what a task needs. Errors:
/// read_text_file()'s.
Result<std::string> gpu_mode_reference(const GpuModeProblem& problem, const std::string& reference,
                                       const std::filesystem::path& folder);

}  // namespace kernelsmith::arena
