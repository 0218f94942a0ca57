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
  std::string python;           ///< the interpreter; empty: $KERNELSMITH_PYTHON, else python3
  int memory_mb = 4096;         ///< MiB, of each process
  std::vector<double> cascade;  ///< thresholds between evaluate_stage1, 2 and 3; empty: evaluate() alone
  bool sandbox = true;
};

/// The task's settings, with defaults for the rest. Errors: `bad_input` for Task::settings of another form.
Result<PythonSettings> python_settings(const Task& task);

/// Writes Task::settings.
std::string settings_text(const PythonSettings& settings);

/// The keys `python`, `memory_mb`, `cascade` and `sandbox` of task.yaml.
TaskSettings python_task_settings();

}  // namespace kernelsmith
