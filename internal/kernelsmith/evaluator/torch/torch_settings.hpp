// What a task of the backend `torch` says beside its reference (docs/formats.md, task.yaml, `torch`).
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// A value.
struct TorchSettings {
  std::string precision = "fp32";      ///< fp32 | tf32 | bf16 | fp16: of products and sums, at least
  std::string baseline = "eager";      ///< eager | compile: how the reference runs that defines 1.0x
  std::string policy = "own_kernels";  ///< own_kernels | any: whether a candidate must bring a kernel
  bool cast = false;  ///< whether both modules are cast to fp32 once they are made, as KernelBench does
  /// Folders of this machine whose headers candidates may include, such as CUTLASS's.
  std::vector<std::string> include = {};
  /// Which of the task's files (`also`) has the module that defines 1.0x; empty: the reference does.
  std::string module = {};

  friend bool operator==(const TorchSettings&, const TorchSettings&) = default;
};

/// What the task says, and the defaults for the rest. Errors: `bad_input` for Task::settings of another form.
Result<TorchSettings> torch_settings(const Task& task);

/// The file with the module that defines 1.0x; null if that is the reference. Errors: `bad_input` if the task
/// has no such file.
Result<const SourceFile*> baseline_module(const Task& task);

/// Task::settings.
std::string settings_text(const TorchSettings& settings);

/// `torch` and `toolchain` of task.yaml.
TaskSettings torch_task_settings();

}  // namespace kernelsmith
