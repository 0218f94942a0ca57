#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/tolerance_reader.hpp>

#include "foreign_names.hpp"
#include "limits.hpp"
#include "named_files.hpp"
#include "reader_support.hpp"
#include "tensor_reader.hpp"

namespace kernelsmith {
namespace task {
namespace {

/// The reader's target and the backends.
struct Reading {
  const Backends& backends;
  const TaskFileReader& read;
  std::filesystem::path folder;                 ///< of the task file
  const BackendDescription* backend = nullptr;  ///< null if none is described
  Task task;
  NamedFiles files;
};

/// Reads the sizes in the file's order, which is also the order of the entry's last arguments.
void read_sizes(YamlMap& in, Task& task) {
  in.optional_map("sizes", [&](YamlMap& sizes) {
    for (const std::string& name : sizes.keys()) {
      require_identifier(sizes, name, name);
      if (name == kWeight)
        sizes.refuse(name, "'weight' is the key of a timed shape's weight, and cannot be a size",
                     "give the size another name");
      sizes.required(name, task.sizes[name], kSizes);
      task.size_order.push_back(name);
    }
  });
}

/// Reads the sizes that differ from the defaults and adds the defaults. `weight` is a key next to them.
void read_sizes_of_shape(YamlMap& in, const Task& task, std::vector<Sizes>& shapes) {
  Sizes sizes = task.sizes;
  for (const std::string& key : in.keys()) {
    if (key == kWeight) continue;
    const auto size = sizes.find(key);
    if (size == sizes.end()) {
      std::vector<std::string_view> known;
      for (const auto& named : sizes) known.push_back(named.first);
      in.kind(key);
      return in.refuse(key, "unknown size '" + key + "'", name_hint(key, known));
    }
    in.required(key, size->second, kSizes);
  }
  if (!in.ok()) return;
  const std::vector<std::string> keys = in.keys();
  const std::string first = keys.empty() ? "" : keys.front();
  if (shapes.size() == kMaxShapes) return in.refuse(first, "more than 64 shapes");
  if (const Status possible = check_tensors(task, sizes); !possible)
    return in.refuse(first, possible.error().message, possible.error().hint);
  shapes.push_back(std::move(sizes));
}

void read_timed_shape(YamlMap& in, Task& task) {
  read_sizes_of_shape(in, task, task.timed);
  if (in.kind(kWeight) == YamlKind::absent) return;
  in.required(kWeight, task.timed_weights.emplace_back(), kWeights);
}

void read_checked_shape(YamlMap& in, Task& task) {
  if (in.kind(kWeight) != YamlKind::absent)
    in.refuse(kWeight, "a shape that is only checked has no weight", "weights belong under timed");
  read_sizes_of_shape(in, task, task.check);
}

/// Normalises the sum to 1. Equal weights are dropped.
void normalise_weights(YamlMap& in, Task& task) {
  std::vector<double>& weights = task.timed_weights;
  if (!in.ok() || weights.empty()) return;
  if (weights.size() != task.timed.size())
    return in.refuse("timed", "only some of the timed shapes have a weight",
                     "give each timed shape a weight, or none of them");
  if (std::ranges::count(weights, weights.front()) == std::ssize(weights)) return weights.clear();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
}

/// Refuses an expression that has no value at one of the shapes, or a value below `least`.
void check_expression(YamlMap& in, std::string_view key, const std::string& expression,
                      const std::vector<Sizes>& shapes, std::int64_t least) {
  if (!in.ok() || expression.empty()) return;
  for (const Sizes& sizes : shapes) {
    const auto value = evaluate_expression(expression, sizes);
    if (!value) return in.refuse(key, value.error().message, value.error().hint);
    if (*value < least)
      return in.refuse(key, "'" + expression + "' is " + std::to_string(*value) + " at " + describe(sizes) +
                                ", and must be at least " + std::to_string(least));
  }
}

void read_declared(YamlMap& in, const Task& task, Declared& declared) {
  in.optional("bytes", declared.bytes);
  in.optional("operations", declared.operations);
  in.optional("operations_are_minimal", declared.operations_are_minimal);
  in.optional("accumulate", declared.accumulate);
  check_expression(in, "bytes", declared.bytes, task.timed, 0);
  check_expression(in, "operations", declared.operations, task.timed, 0);
  check_expression(in, "accumulate", declared.accumulate, task.timed, 1);
  check_expression(in, "accumulate", declared.accumulate, task.check, 1);
}

/// Refuses a generator without generated tensors, and generated tensors without a generator.
void require_generator(YamlMap& in, const Task& task, const NamedFiles& files) {
  const auto generated = std::ranges::find(task.tensors, TensorInit::generated, &TensorSpec::init);
  if (!in.ok() || files.inputs.empty() == (generated == task.tensors.end())) return;
  if (files.inputs.empty())
    return in.refuse("files", "no generator is named, and tensor '" + generated->name + "' needs one",
                     "files: {inputs: inputs.cpp}");
  in.refuse("files", "'inputs' makes tensors whose init is 'generated', and there are none",
            "leave it out, or give a tensor init: generated");
}

/// Checks what a task with an entry needs, beyond the types of its keys.
void require_kernel(YamlMap& in, const Task& task, const NamedFiles& files) {
  require_identifier(in, "entry", task.entry);
  if (files.reference.empty() && in.ok())
    in.refuse("files", "no reference is named", "files: {reference: reference.cpp}");
  const auto written = [](const TensorSpec& tensor) { return tensor.role != TensorRole::in; };
  if (in.ok() && std::ranges::none_of(task.tensors, written))
    in.refuse("tensors", "no tensor has the role 'out' or 'inout': the entry would have no result");
  if (in.ok() && in.kind("command") != YamlKind::absent)
    in.refuse("command", "a task of the backend '" + task.backend + "' runs no command of its own");
}

/// Gives inputs equal values if an output may be an index: which of several equal values it names is part of
/// the correct result, but random inputs rarely test it. A constant tensor is a table, which is not searched
/// for its largest value.
void show_ties(Task& task, const std::set<std::string>& drawn_by_default) {
  const auto is_index = [](const TensorSpec& tensor) {
    return tensor.role == TensorRole::out && (tensor.dtype == Dtype::i32 || tensor.dtype == Dtype::i64);
  };
  if (std::ranges::none_of(task.tensors, is_index)) return;
  for (TensorSpec& tensor : task.tensors)
    if (tensor.role == TensorRole::in && traits_of(tensor.dtype).real && !tensor.constant &&
        drawn_by_default.contains(tensor.name))
      tensor.init = TensorInit::ties;
}

void read_kernel(YamlMap& in, Reading& reading) {
  const Choices<CacheState> caches = {{"cold", CacheState::cold}, {"warm", CacheState::warm}};
  Task& task = reading.task;
  in.required("entry", task.entry);
  read_sizes(in, task);
  std::set<std::string> drawn_by_default;
  in.required_maps("tensors", [&](YamlMap& tensor) {
    read_tensor(tensor, task.sizes, reading.backend, task.tensors);
    if (tensor.ok() && tensor.kind("init") == YamlKind::absent)
      drawn_by_default.insert(task.tensors.back().name);
  });
  show_ties(task, drawn_by_default);
  in.optional_maps("timed", [&](YamlMap& shape) { read_timed_shape(shape, task); });
  normalise_weights(in, task);
  if (task.timed.empty()) task.timed.push_back(task.sizes);
  in.optional_maps("check", [&](YamlMap& shape) { read_checked_shape(shape, task); });
  read_tolerance(in, task.tolerance, TaskForm::kernel);
  in.optional_map("declared", [&](YamlMap& declared) { read_declared(declared, task, task.declared); });
  in.optional("cache", task.cache, caches);
  in.optional("flags", task.flags);
  require_kernel(in, task, reading.files);
}

/// Keys that the reference already determines are refused.
void require_module(YamlMap& in, const NamedFiles& files) {
  if (files.reference.empty() && in.ok())
    in.refuse("files", "no reference is named", "files: {reference: reference.py}");
  if (in.ok() &&
      (!files.baseline.empty() || !files.yardstick.empty() || !files.oracle.empty() || !files.inputs.empty()))
    in.refuse("files", "a task of modules has a reference, a seed and further files (also), and nothing else",
              "the reference is baseline, yardstick and oracle; its get_inputs() makes the inputs");
}

/// The backend's own keys.
void read_settings(YamlMap& in, Reading& reading) {
  if (reading.backend && reading.backend->settings.read && in.ok())
    reading.task.settings = reading.backend->settings.read(in, reading.task);
}

void read_module(YamlMap& in, Reading& reading) {
  read_tolerance(in, reading.task.tolerance, TaskForm::module);
  require_module(in, reading.files);
}

void read_command(YamlMap& in, Task& task) {
  in.required("command", task.command);
  if (in.ok() && task.command.empty()) in.refuse("command", "the list is empty");
}

/// An evaluator may be anywhere, and runs in its own folder, next to its modules and data. A run's copy of
/// the task records the evaluator's path.
std::filesystem::path path_of_evaluator(const Reading& reading) {
  if (const auto kept = reading.read(std::string(kEvaluatorPathFile)); kept) return *kept;
  std::error_code error;
  return std::filesystem::absolute(reading.folder / reading.task.evaluator.path, error).lexically_normal();
}

void read_evaluator(YamlMap& in, Reading& reading) {
  TaskProgram& evaluator = reading.task.evaluator;
  in.required("evaluator", evaluator.path);
  if (!in.ok()) return;
  const auto path = path_of_evaluator(reading);
  auto text = read_file(path);
  if (!text) return in.refuse("evaluator", text.error().message, "evaluator: evaluator.py");
  evaluator = {path.string(), std::move(*text)};
}

/// The name must be plain, because run folders are named after the task, and terminals show the name.
void require_plain_name(YamlMap& in, std::string_view key, const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const bool plain = name.size() <= kLongest && name.find('/') == name.npos && !name.starts_with('-') &&
                     !name.starts_with('.') && Source::create({{name, ""}});
  if (in.ok() && !plain)
    in.refuse(key, "the name cannot be that of a folder",
              "at most 100 bytes without / and control bytes, not beginning with - or .");
}

void read_version(YamlMap& in) {
  int version = 0;
  in.required("version", version);
  if (in.ok() && version != 1)
    in.refuse("version", "task version " + std::to_string(version) + " is not known",
              "this kernelsmith reads version 1");
}

void read_backend(YamlMap& in, Reading& reading) {
  std::string& name = reading.task.backend;
  in.required("backend", name);
  if (!in.ok() || reading.backends.empty()) return;
  Choices<std::string> known;
  for (const auto& backend : reading.backends) known.emplace_back(backend.first, backend.first);
  in.required("backend", name, known);
  if (in.ok()) reading.backend = &reading.backends.at(name);
}

/// Refuses a number of the tolerance at the top level, where many users put it.
void refuse_loose_figures(YamlMap& in) {
  for (const std::string& key : in.keys())
    if (key == "rtol" || key == "atol" || key.ends_with("_tolerance"))
      in.refuse(key, "unknown key '" + key + "'", "tolerance: {rtol: 1e-5, atol: 1e-8}");
}

/// The form of the task. If the backend is not described, the keys decide.
TaskForm form_of(YamlMap& in, const Reading& reading) {
  if (reading.backend) return reading.backend->form;
  if (in.kind("command") != YamlKind::absent) return TaskForm::command;
  return in.kind("evaluator") != YamlKind::absent ? TaskForm::evaluator : TaskForm::kernel;
}

std::vector<std::string_view> keys_of(TaskForm form) {
  switch (form) {
    case TaskForm::kernel:
      return {"threads", "command",   "entry",    "sizes", "tensors", "timed",
              "check",   "tolerance", "declared", "cache", "flags"};
    case TaskForm::module:
      return {"tolerance"};
    case TaskForm::command:
      return {"threads", "command"};
    case TaskForm::evaluator:
      return {"evaluator"};
  }
  return {};
}

void only_known_keys(YamlMap& in, TaskForm form, const BackendDescription* backend) {
  std::vector<std::string_view> keys = {"version",          "name",      "backend", "description",
                                        "nondeterministic", "timeout_s", "files"};
  const auto own = keys_of(form);
  keys.insert(keys.end(), own.begin(), own.end());
  if (backend) keys.insert(keys.end(), backend->settings.keys.begin(), backend->settings.keys.end());
  in.only(keys);
}

void read_form(YamlMap& in, Reading& reading, TaskForm form) {
  switch (form) {
    case TaskForm::module:
      return read_module(in, reading);
    case TaskForm::evaluator:
      return read_evaluator(in, reading);
    case TaskForm::kernel:
      read_kernel(in, reading);
      break;
    case TaskForm::command:
      read_command(in, reading.task);
      break;
  }
  require_generator(in, reading.task, reading.files);
}

void read_root(YamlMap& in, Reading& reading) {
  Task& task = reading.task;
  read_version(in);
  read_backend(in, reading);
  refuse_loose_figures(in);
  const TaskForm form = form_of(in, reading);
  only_known_keys(in, form, reading.backend);
  in.required("name", task.name);
  require_plain_name(in, "name", task.name);
  in.optional("description", task.description);
  if (form == TaskForm::kernel || form == TaskForm::command) in.optional("threads", task.threads, kThreads);
  in.optional("nondeterministic", task.nondeterministic);
  if (reading.backend) task.timeout_s = reading.backend->timeout_s;
  in.optional("timeout_s", task.timeout_s, kTimeoutS);
  in.optional_map("files", [&](YamlMap& named) { read_files(named, reading.files); });
  if (!in.ok()) return;
  read_form(in, reading, form);
  read_settings(in, reading);
}

}  // namespace
}  // namespace task

Result<Task> parse_task(std::string_view yaml, std::string_view name, const TaskFileReader& read,
                        const Backends& backends) {
  task::Reading reading{backends, read, std::filesystem::path(name).parent_path(), nullptr, {}, {}};
  const auto status = read_yaml(yaml, std::string(name), [&](YamlMap& in) { task::read_root(in, reading); });
  if (!status) return status.error();
  Task& parsed = reading.task;
  if (const auto loaded = task::load_files(reading.files, read, parsed); !loaded) return loaded.error();
  parsed.digest = task_digest(parsed);
  return std::move(parsed);
}

namespace {

/// The hint for a folder without a task.yaml.
std::string what_to_give(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "run.yaml", error))
    return "this is a run folder: `kernelsmith resume` goes on with it, and its task is in " +
           (folder / "task").string();
  if (std::filesystem::exists(folder / "task.yml", error)) return "rename task.yml to task.yaml";
  return "give a folder with a task.yaml (`kernelsmith init` makes one), one of KernelBench's .py files, or "
         "one "
         "problem of an arena; `kernelsmith suite` and `score` take folders of them";
}

}  // namespace

Result<Task> load_task(const std::filesystem::path& path, const Backends& backends) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const auto file = is_folder ? path / "task.yaml" : path;
  if (!is_folder && path.extension() != ".yaml" && path.extension() != ".yml" &&
      std::filesystem::exists(path, error))
    return fail(ErrorCode::bad_input, "this is no task", path.string(),
                "give a folder with a task.yaml, or that file; `kernelsmith init` makes one");
  auto folder = file.parent_path();
  if (folder.empty()) folder = ".";
  const auto yaml = task::read_below(folder, file.filename().string());
  if (!yaml) {
    Error failed = yaml.error();
    failed.where = file.string();
    if (failed.code == ErrorCode::not_found) failed.hint = what_to_give(path);
    return failed;
  }
  return parse_task(
      *yaml, file.string(), [&](const std::string& named) { return task::read_below(folder, named); },
      backends);
}

}  // namespace kernelsmith
