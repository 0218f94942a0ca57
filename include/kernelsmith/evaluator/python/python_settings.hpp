// What a task says that is scored by a Python function (docs/backend-python.md).
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

/// What the task says, and the defaults for the rest. Errors: `bad_input` for Task::settings of another form.
Result<PythonSettings> python_settings(const Task& task);

/// Task::settings.
std::string settings_text(const PythonSettings& settings);

/// `python`, `memory_mb`, `cascade` and `sandbox` of task.yaml.
TaskSettings python_task_settings();

}  // namespace kernelsmith
