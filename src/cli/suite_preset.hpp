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
  Sampling sampling;  ///< settings of models named with --model
  /// Backend of its tasks, which have no seed: a search begins with a translation. Empty: any task.
  std::string translates_to;
};

/// The presets by name.
const std::map<std::string, SuitePreset>& suite_presets();

/// Checks that the preset `name` supports the task. Errors: `invalid_argument`.
Status check_preset(const std::string& name, const Task& task);

}  // namespace kernelsmith::cli
