// Settings of a task of the backend `torch` (docs/formats.md, task.yaml, `torch`).
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

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

  friend bool operator==(const TorchSettings&, const TorchSettings&) = default;
};

/// Reads Task::settings; settings that are absent get their defaults. Errors: `bad_input` for a text of
/// another form.
Result<TorchSettings> torch_settings(const Task& task);

/// Finds the file with the module that defines 1.0x; null for the reference. Errors: `bad_input` if the task
/// has no such file.
Result<const SourceFile*> baseline_module(const Task& task);

/// The text for Task::settings.
std::string settings_text(const TorchSettings& settings);

/// The keys `torch` and `toolchain` of task.yaml.
TaskSettings torch_task_settings();

}  // namespace kernelsmith
