// BackendDescription: what task files, prompts, `init` and `doctor` have to know about a backend. A backend
// is one folder: add_backend() (kernelsmith/session/registry.hpp) takes what that folder registers.
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

/// The keys of task.yaml that only one backend's tasks have, and how they become Task::settings.
struct TaskSettings {
  std::vector<std::string_view> keys;  ///< at the top level
  /// Reads them and refuses what is wrong. `task` is complete but for its settings and the texts of its
  /// files.
  std::function<std::string(YamlMap& in, const Task& task)> read;
  /// Checks a task that came in a message. Errors: `bad_input`.
  std::function<Status(const Task&)> check;
};

/// What prompts say of a task: values by the names that templates use.
struct PromptFacts {
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> conditions;
};

/// A feature by which candidates that work differently are told apart.
struct BehaviourLevels {
  std::string feature;        ///< in Metrics::features(), or one of the source (static_features())
  std::vector<double> edges;  ///< between its levels, ascending; n make n - 1 levels
};

/// A value. Its functions are thread-safe; an empty one has nothing to say.
struct BackendDescription {
  std::string name;      ///< Task::backend
  std::string summary;   ///< of its tasks, one line: "a C++ kernel, compiled, checked and timed"
  std::string language;  ///< of its candidates, in words; empty: as the file's name says
  std::string suffix;    ///< of a candidate's file, such as ".cpp"; empty: as the task's files have it
  TaskForm form = TaskForm::command;  ///< of its tasks
  /// Times are taken where other programs work too: ratios of kernels that work differently move with these.
  bool shared_device = false;
  double timeout_s = 10;                   ///< Task::timeout_s of tasks that give none
  std::vector<Dtype> dtypes;               ///< that tensors of its kernels can have
  TaskSettings settings;                   ///< of its tasks; without functions: it has none
  std::vector<BehaviourLevels> behaviour;  ///< the axes of the preset `behaviour`; empty: it has none
  std::vector<SourceFile> template_files;  ///< the task that `kernelsmith init` makes; empty: it makes none

  /// Files that a candidate is built beside, made from the task: `task.hpp`.
  std::function<std::vector<SourceFile>(const Task&)> interface_files;
  /// `task.NAME` of prompt templates, beside what every task has.
  std::function<PromptFacts(const Task&)> prompt_facts;
  /// What it measures on, as Report::hardware names it.
  std::function<std::string()> hardware;
  /// What it needs of this machine. `sandboxed`: a sandbox works here. Takes about a second.
  std::function<std::vector<MachineCheck>(bool sandboxed)> examine_machine;
  /// Prepares the task as an evaluator does: that all its files compile and pass, and what was seen
  /// meanwhile. Takes seconds.
  std::function<std::vector<MachineCheck>(const Task&)> examine_task;
  /// Where something could be left out of the task unnoticed: a precision, half of an input, all of them.
  /// About a second.
  std::function<std::vector<MachineCheck>(const Task&)> examine_precision;
};

/// By name.
using Backends = std::map<std::string, BackendDescription>;

/// The first backend, by name, whose tasks have this form. Null if no backend has it.
const BackendDescription* backend_of_form(const Backends& backends, TaskForm form);

/// What BackendDescription::hardware says on a machine where the backend can evaluate nothing.
inline constexpr std::string_view kNoGpu = "no GPU";

/// What `examine_precision` says of these findings, an item for each shape, input and output. None: outputs
/// are compared bit for bit.
std::vector<MachineCheck> precision_checks(const Result<std::vector<PrecisionCheck>>& found);

/// The first of what `examine_task` says: `prepared` is the outcome of preparing the task.
MachineCheck task_check(const Task& task, const Status& prepared);

/// What it says of an output that no input moves, at a shape.
MachineCheck degenerate_check(const std::string& output, const std::string& shape);

/// What it says if the task was planned, and there is no GPU to run it on: the machine's lack, not the
/// task's.
inline constexpr std::string_view kGpuCheck = "gpu";
MachineCheck without_gpu(std::string_view maker = "NVIDIA");

}  // namespace kernelsmith
