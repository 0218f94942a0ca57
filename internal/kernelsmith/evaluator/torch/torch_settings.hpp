// Settings of a task of the backend `torch` (docs/formats.md, task.yaml, `torch`).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// One shape of a task: the inputs that get_inputs() gives for these arguments. A value.
struct TorchWorkload {
  std::string name;                         ///< unique in its task
  std::string arguments = "{}";             ///< a JSON object: get_inputs()'s arguments, all scalars
  double weight = 1;                        ///< its share of the score, relative to the other timed ones'
  bool check = false;                       ///< whether it is only checked, not timed
  std::optional<Tolerance> tolerance = {};  ///< in place of the task's

  friend bool operator==(const TorchWorkload&, const TorchWorkload&) = default;
};

/// The most workloads of a task: SOL-ExecBench and FlashInfer-Bench have up to some fifty for a definition.
inline constexpr std::size_t kMostWorkloads = 64;

/// A value.
struct TorchSettings {
  std::string precision = "fp32";      ///< fp32 | tf32 | bf16 | fp16: the lowest precision that is allowed in
                                       ///< products and sums
  std::string baseline = "eager";      ///< eager | compile: how the baseline of 1.0x runs
  std::string policy = "own_kernels";  ///< own_kernels | any: whether a candidate must bring a kernel
  bool cast = false;  ///< whether both modules are cast to fp32 after construction, as in KernelBench
  /// Folders of this machine with headers that candidates may include, such as CUTLASS's.
  std::vector<std::string> include = {};
  /// The file (one of `also`) with the module that defines 1.0x. If empty, the reference defines it.
  std::string module = {};
  /// The shapes of the task. If empty, it has one: that of get_inputs() without arguments.
  std::vector<TorchWorkload> workloads = {};

  friend bool operator==(const TorchSettings&, const TorchSettings&) = default;
};

/// Reads Task::settings; settings that are absent get their defaults. Errors: `bad_input` for a text of
/// another form.
Result<TorchSettings> torch_settings(const Task& task);

/// The task's workloads; one without a name if the settings list none.
std::vector<TorchWorkload> workloads_of(const TorchSettings& settings);

/// The tolerance that counts at a workload: its own, else the task's.
const Tolerance& tolerance_at(const Tolerance& of_task, const TorchWorkload& workload);

/// Finds the file with the module that defines 1.0x; null for the reference. Errors: `bad_input` if the task
/// has no such file.
Result<const SourceFile*> baseline_module(const Task& task);

/// The text for Task::settings.
std::string settings_text(const TorchSettings& settings);

/// The keys `torch`, `toolchain` and `workloads` of task.yaml.
TaskSettings torch_task_settings();

}  // namespace kernelsmith
