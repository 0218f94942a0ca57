#include "suite_preset.hpp"

namespace kernelsmith::cli {

const std::map<std::string, SuitePreset>& suite_presets() {
  static const Sampling kernel_smith = {0.6, 0.95, 32'768, 32'768};
  static const std::map<std::string, SuitePreset> presets = {
      {"kernel-smith", {40, kernel_smith, ""}},
      {"kernel-smith-maca", {40, kernel_smith, "maca"}},
  };
  return presets;
}

Status check_preset(const std::string& name, const Task& task) {
  const std::string& backend = suite_presets().at(name).translates_to;
  if (backend.empty()) return {};
  if (task.backend != backend)
    return fail(ErrorCode::invalid_argument, "the preset " + name + " is for tasks of " + backend,
                task.name + ", a task of " + task.backend,
                "leave --preset out, or name a folder of such tasks");
  if (!task.seed.empty())
    return fail(ErrorCode::invalid_argument,
                "the preset " + name + " begins with a translation, and the task has a seed", task.name,
                "leave `seed` out of its task.yaml: the reference is what is translated");
  return {};
}

}  // namespace kernelsmith::cli
