// The `python` backend: a Python function scores the candidates, in forks of a process that is already
// started (docs/backend-python.md).
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/python/python_settings.hpp>

namespace kernelsmith {

/// Whether evaluators run in a sandbox.
enum class PythonSandbox {
  as_task,   ///< in a sandbox, unless the task says `sandbox: false`
  required,  ///< in a sandbox, whatever the task says
  none,      ///< only on explicit request; recorded as the tier "unsandboxed"
};

/// Settings of the backend `python`.
struct PythonOptions {
  std::string python;           ///< a program or its path; if empty, the task's
  unsigned runs_at_a_time = 0;  ///< 0: one for each core
  PythonSandbox sandbox = PythonSandbox::as_task;
  unsigned processes = 64;  ///< the most processes of one evaluation at a time; in a sandbox threads count
                            ///< too
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// The Python that the options or the task name; else $KERNELSMITH_PYTHON, else python3. It runs once outside
/// of any sandbox to report where its files are.
std::string named_python(const PythonSettings& task, const PythonOptions& options);

/// Whether evaluations of the task run without a sandbox.
bool runs_unsandboxed(const PythonSettings& task, const PythonOptions& options);

/// An evaluator that calls the task's Python function for each candidate and trusts its answer: the tier is
/// "unverified". Starts a Python and imports the evaluator. Errors: `unsupported` for another backend's task,
/// `refused` (an evaluator that cannot be imported or has no evaluate(), with file and line), `tool_missing`
/// (Python, bubblewrap).
Result<std::shared_ptr<Evaluator>> make_python_evaluator(Task task, const PythonOptions& options = {});

BackendDescription describe_python_backend();

}  // namespace kernelsmith
