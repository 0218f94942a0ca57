// EvaluatorProcess: a warm Python process that has imported a task's evaluator and calls it in forks.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/python/python_settings.hpp>
#include <kernelsmith/evaluator/python_process/python_process.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "evaluator_reply.hpp"

namespace kernelsmith::python_process {

/// The destructor ends the process and its children. Not thread-safe.
class EvaluatorProcess {
 public:
  /// Starts the program and makes it import the evaluator. Errors: refused (with file and line), cancelled,
  /// those of a sandbox.
  static Result<std::unique_ptr<EvaluatorProcess>> start(const SandboxSpec& spec, const PythonSettings& task,
                                                         const std::stop_token& stop);
  ~EvaluatorProcess() { process_.kill(); }
  EvaluatorProcess(const EvaluatorProcess&) = delete;
  EvaluatorProcess& operator=(const EvaluatorProcess&) = delete;

  /// Evaluates a candidate. If the answer has no reply, the process is dead, because a candidate killed it or
  /// kept it from watching the time.
  Answer evaluate(const Source& candidate, const EvaluateLimits& limits, const std::stop_token& stop);

  const std::string& version() const { return version_; }

 private:
  EvaluatorProcess(std::optional<ScratchFolder> scratch, PythonProcess process, std::size_t stages)
      : scratch_(std::move(scratch)), process_(std::move(process)), stages_(stages) {}

  std::optional<ScratchFolder> scratch_;  ///< of a process without a sandbox, for the files that it leaves
  PythonProcess process_;
  std::size_t stages_;   ///< the most stages of an evaluation, each with a time limit of its own
  std::string version_;  ///< version of Python
};

}  // namespace kernelsmith::python_process
