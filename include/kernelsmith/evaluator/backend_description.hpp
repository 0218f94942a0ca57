// BackendDescription: what task files, prompts, `init` and `doctor` need to know about a backend. A backend
// is one folder and is registered with add_backend() (kernelsmith/session/registry.hpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/machine_check.hpp>

namespace kernelsmith {

class YamlMap;          // kernelsmith/config/yaml.hpp
struct PrecisionCheck;  // kernelsmith/evaluator/precision.hpp

/// The keys of task.yaml that are specific to a backend, and how they become Task::settings.
struct TaskSettings {
  std::vector<std::string_view> keys;  ///< keys at the top level
  /// Reads the keys and refuses invalid values. `task` is complete except for its settings and the texts of
  /// its files.
  std::function<std::string(YamlMap& in, const Task& task)> read;
  /// Checks a task that was received in a message. Errors: `bad_input`.
  std::function<Status(const Task&)> check;
};

/// Values for prompt templates, by name.
struct PromptFacts {
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> conditions;
};

/// A feature that distinguishes candidates that work differently.
struct BehaviourLevels {
  std::string feature;        ///< a name in Metrics::features() or static_features()
  std::vector<double> edges;  ///< the edges of its levels, ascending; n edges make n - 1 levels
};

/// A value. Its functions are thread-safe and may be empty.
struct BackendDescription {
  std::string name;      ///< Task::backend
  std::string summary;   ///< describes its tasks in one line: "a C++ kernel, compiled, checked and timed"
  std::string language;  ///< language of its candidates, in words; if empty, the file's name decides
  std::string suffix;    ///< suffix of a candidate's file, such as ".cpp"; if empty, that of the task's files
  TaskForm form = TaskForm::command;  ///< the form of its tasks
  /// Times are measured while other programs use the device. They change the ratios between kernels that work
  /// differently.
  bool shared_device = false;
  double timeout_s = 10;                   ///< Task::timeout_s of tasks that do not give a timeout
  std::vector<Dtype> dtypes;               ///< types that tensors of its kernels can have
  TaskSettings settings;                   ///< task.yaml keys of its tasks; if the functions are empty, there
                                           ///< are none
  std::vector<BehaviourLevels> behaviour;  ///< the axes of the preset `behaviour`; if empty, they are
                                           ///< features of the program's text
  std::vector<SourceFile> template_files;  ///< the task that `kernelsmith init` makes; if empty, it makes
                                           ///< none

  /// Generated files that a candidate is built with, such as `task.hpp`.
  std::function<std::vector<SourceFile>(const Task&)> interface_files;
  /// Additional `task.NAME` values of prompt templates.
  std::function<PromptFacts(const Task&)> prompt_facts;
  /// The hardware that it measures on, written as in Report::hardware.
  std::function<std::string()> hardware;
  /// Checks that this machine has what the backend needs. `sandboxed` says that a sandbox works here. Takes
  /// about a second.
  std::function<std::vector<MachineCheck>(bool sandboxed)> examine_machine;
  /// Prepares the task as an evaluator does, and reports whether its files compile and pass. Takes seconds.
  std::function<std::vector<MachineCheck>(const Task&)> examine_task;
  /// Finds what a candidate could leave out without being caught: precision, half of an input, or all inputs.
  /// Takes about a second.
  std::function<std::vector<MachineCheck>(const Task&)> examine_precision;
};

/// By name.
using Backends = std::map<std::string, BackendDescription>;

/// The first backend, by name, whose tasks have this form. Null if no backend has it.
const BackendDescription* backend_of_form(const Backends& backends, TaskForm form);

/// What BackendDescription::hardware returns on a machine where the backend cannot evaluate.
inline constexpr std::string_view kNoGpu = "no GPU";

/// The findings of `examine_precision` as text, with an item for each shape, input and output. Empty if
/// outputs are compared bit for bit.
std::vector<MachineCheck> precision_checks(const Result<std::vector<PrecisionCheck>>& found);

/// The first item of `examine_task`: `prepared` is the outcome of preparing the task.
MachineCheck task_check(const Task& task, const Status& prepared);

/// The item of `examine_task` for an output that, at this shape, does not depend on any input.
MachineCheck degenerate_check(const std::string& output, const std::string& shape);

/// The name of the item of `examine_task` for a task that was planned on a machine without a GPU. It says
/// that the machine lacks a GPU, not that the task has a fault.
inline constexpr std::string_view kGpuCheck = "gpu";
MachineCheck without_gpu(std::string_view maker = "NVIDIA");

}  // namespace kernelsmith
