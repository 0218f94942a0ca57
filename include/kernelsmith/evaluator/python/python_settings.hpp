// Settings of a task that a Python function scores (docs/backend-python.md).
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// A value.
struct PythonSettings {
  std::string evaluator;        ///< Task::evaluator's path
  std::string python;           ///< the interpreter; if empty, $KERNELSMITH_PYTHON, else python3
  int memory_mb = 4096;         ///< the limit of each process, in MiB
  std::vector<double> cascade;  ///< thresholds between evaluate_stage1, 2 and 3; if empty, only evaluate() is
                                ///< called
  bool sandbox = true;
};

/// Reads Task::settings; settings that are absent get their defaults. Errors: `bad_input` for a text of
/// another form.
Result<PythonSettings> python_settings(const Task& task);

/// The text for Task::settings.
std::string settings_text(const PythonSettings& settings);

/// The keys `python`, `memory_mb`, `cascade` and `sandbox` of task.yaml.
TaskSettings python_task_settings();

}  // namespace kernelsmith
