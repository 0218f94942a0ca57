// The `cpu` backend: C++ functions through the system compiler, checked and timed by a judge in this process
// while they run in a sandboxed process of their own (docs/backend-cpu.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

struct CpuOptions {
  std::string compiler = "g++";
  std::vector<std::string> flags = {"-O3", "-march=native", "-std=c++20"};  ///< Task::flags come after them
  std::filesystem::path runner;  ///< empty: $KERNELSMITH_RUNNER, beside the program, installed, built
  bool unsandboxed = false;      ///< only when asked for by name; recorded as the tier "unsandboxed"
  bool without_cgroup = false;   ///< for tests: tier "weak" on any machine
  std::size_t bank_bytes = std::size_t{384} << 20;  ///< memory for inputs and expected outputs
  double compile_timeout_s = 30;  ///< of CPU time, of one compilation; of wall time five times that
  double bank_seconds = 3;        ///< time to make them, beyond the least number
};

/// Prepares the task on this machine: compiles reference, oracle, baseline, seed and yardstick, makes the
/// secret bank of inputs with expected outputs, and times the baseline. Takes seconds. Errors: `tool_missing`
/// (compiler, bubblewrap, runner), `refused` (a reference that does not compile, a baseline or seed that
/// fails the check, a tensor type that the backend lacks), `unsupported` for another backend's task.
Result<std::shared_ptr<Evaluator>> make_cpu_evaluator(Task task, const CpuOptions& options = {});

/// Whether a task's budget tells honest results at a timed shape from those of the precision below: of so
/// many secret sets, on how many the reference's answer to inputs rounded to that precision was found to be
/// wrong.
struct PrecisionCheck {
  std::string shape;
  std::string lower;  ///< such as "tf32" where the task asks for f32
  std::size_t sets = 0;
  std::size_t caught = 0;
  /// Inputs half of which could be left out: in none of these sets was it found to be wrong that of every two
  /// neighbouring cache lines one was a copy of the other, though the outputs changed.
  std::vector<std::string> negligible = {};

  /// A candidate is shown a dozen sets and more, so it need not fail all.
  bool tells() const { return 3 * caught >= sets; }
};

/// Asks that of every timed shape; empty where outputs are compared bit for bit. Takes about a second.
/// Errors: those of make_cpu_evaluator().
Result<std::vector<PrecisionCheck>> check_precision(const Task& task, const CpuOptions& options = {});

/// The generated header `task.hpp`, which candidate, reference and baseline include: the entry's signature.
std::string cpu_task_header(const Task& task);

/// The processor that this machine measures on, as reports name it.
std::string cpu_hardware();

}  // namespace kernelsmith
