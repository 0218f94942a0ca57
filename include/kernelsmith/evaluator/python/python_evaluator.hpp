// The `python` backend: candidates that a Python function scores, in forks of a warm process
// (docs/backend-python.md).
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

/// When evaluators run in a sandbox.
enum class PythonSandbox {
  as_task,   ///< unless the task says `sandbox: false`
  required,  ///< whatever the task says
  none,      ///< only when asked for by name; recorded as the tier "unsandboxed"
};

/// Settings of the backend `python`.
struct PythonOptions {
  std::string python;           ///< a program or its path; empty: the task's
  unsigned runs_at_a_time = 0;  ///< 0: one for each core
  PythonSandbox sandbox = PythonSandbox::as_task;
  unsigned processes = 64;  ///< the most at a time for one evaluation, with threads if sandboxed
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// The task's Python; empty: $KERNELSMITH_PYTHON, else python3. It runs once outside of any sandbox to report
/// where its files are.
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
