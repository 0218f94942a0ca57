// The command of the worker: its Python and files, in a sandbox or without one.
#pragma once

#include <filesystem>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/python/python_settings.hpp>
#include <kernelsmith/evaluator/python_process/interpreter.hpp>
#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith::python_process {

/// A value.
struct EvaluatorProgram {
  Interpreter interpreter;
  std::filesystem::path package;  ///< the folder of kernelsmith_worker
  std::filesystem::path shared;   ///< the folder of kernelsmith_process
};

/// The Python that the task names (else $KERNELSMITH_PYTHON, else python3), and our packages. Errors:
/// tool_missing.
Result<EvaluatorProgram> find_program(const std::string& named);

/// In a sandbox the program sees the system's programs, its Python and the evaluator's folder, all read-only.
/// Without one it has this process's environment, folder and rights.
SandboxSpec program_spec(const EvaluatorProgram& program, const PythonSettings& task, unsigned processes,
                         Confinement confinement);

/// Checks that the sandbox's user can read the evaluator. If this process runs as root, that user is nobody.
/// Error: permission, with a hint.
Status check_readable(const PythonSettings& task);

/// The memory limit of an evaluation: RLIMIT_DATA of each of its processes.
std::uint64_t memory_bytes(const PythonSettings& task);

}  // namespace kernelsmith::python_process
