// The published protocols that `kernelsmith suite --preset` follows.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

#include "run_options.hpp"

namespace kernelsmith::cli {

struct SuitePreset {
  std::uint64_t rounds = 0;
  Sampling sampling;          ///< of models that --model names
  std::string translates_to;  ///< its tasks' backend; they have no seed, so a search begins with a
                              ///< translation of the reference. Empty: any task
};

/// By name.
const std::map<std::string, SuitePreset>& suite_presets();

/// Whether the task is one that the preset `name` is for. Errors: `invalid_argument`.
Status check_preset(const std::string& name, const Task& task);

}  // namespace kernelsmith::cli
