// The `cpu` backend: C++ functions through the system compiler, checked and timed by a judge in this process
// while they run in a sandboxed process of their own (docs/backend-cpu.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/bank_limits.hpp>
#include <kernelsmith/evaluator/precision.hpp>

namespace kernelsmith {

/// Settings of the backend `cpu`.
struct CpuOptions {
  std::string compiler = "g++";
  std::vector<std::string> flags = {"-O3", "-march=native", "-std=c++20"};  ///< Task::flags come after them
  std::filesystem::path runner;  ///< empty: $KERNELSMITH_RUNNER, next to the program, installed, or built
  bool unsandboxed = false;      ///< only when asked for by name; recorded as the tier "unsandboxed"
  bool without_cgroup = false;   ///< for tests: tier "weak" on any machine
  std::size_t bank_bytes = BankLimits{}.bytes;  ///< memory for inputs and expected outputs
  double compile_timeout_s = 30;  ///< CPU time of one compilation; the limit of wall time is five times that
  double bank_seconds = BankLimits{}.seconds;  ///< CPU time to make sets beyond the minimum, by thread
  /// A stop request ends the preparation of the task with `cancelled`.
  std::stop_token stop = {};
};

/// Prepares the task on this machine: compiles reference, oracle, baseline, seed and yardstick, makes the
/// secret bank of inputs with expected outputs, and times the baseline. Takes seconds. Objects of these
/// sources are kept in a cache on disk ($KERNELSMITH_CACHE; "off" for none; else below ~/.cache). Errors:
/// `tool_missing` (compiler, bubblewrap, runner), `refused` (a reference that does not compile, a baseline or
/// seed that fails the check, a tensor type that the backend lacks), `unsupported` for another backend's
/// task.
Result<std::shared_ptr<Evaluator>> make_cpu_evaluator(Task task, const CpuOptions& options = {});

/// The backend without queues, for an evaluator of several tasks.
Result<std::shared_ptr<Backend>> make_cpu_backend(std::shared_ptr<const Task> task,
                                                  const CpuOptions& options = {});

/// Finds what a candidate could leave out unnoticed: see check_precision(). Errors: those of
/// make_cpu_evaluator().
Result<std::vector<PrecisionCheck>> check_cpu_precision(const Task& task, const CpuOptions& options = {});

/// The generated header `task.hpp` with the entry's signature. Candidate, reference and baseline include it.
std::string cpu_task_header(const Task& task);

/// The name of this machine's processor in reports.
std::string cpu_hardware();

BackendDescription describe_cpu_backend();

}  // namespace kernelsmith
