// check_task: applies the checks of parse_task() to a task from a message, which anybody may have sent.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/tolerance_reader.hpp>

#include "identifiers.hpp"
#include "limits.hpp"
#include "tensor_reader.hpp"

namespace kernelsmith {
namespace task {
namespace {

Error wrong(const char* where, std::string message) {
  return fail(ErrorCode::bad_input, "the task cannot be accepted: " + std::move(message), where,
              "a task.yaml with this would be refused: send the task with an unchanged kernelsmith");
}

/// Whether the value is in the range; false for NaN.
template <class T>
bool within(T value, Range<T> range) {
  return value >= range.low && value <= range.high;
}

/// Whether the sizes have the names of the defaults.
Status check_sizes(const Task& task, const Sizes& sizes) {
  if (!std::ranges::equal(sizes, task.sizes, {}, &Sizes::value_type::first, &Sizes::value_type::first))
    return wrong("sizes", "a shape has other sizes than the task");
  for (const auto& [name, value] : sizes)
    if (!is_identifier(name) || name == kWeight || !within(value, kSizes))
      return wrong("sizes", "size '" + name + "' is " + std::to_string(value));
  return check_tensors(task, sizes);
}

Status check_expression(const std::string& expression, const Sizes& sizes, std::int64_t least) {
  if (expression.empty()) return {};
  const auto value = evaluate_expression(expression, sizes);
  if (!value) return value.error();
  if (*value < least) return wrong("declared", "'" + expression + "' is " + std::to_string(*value));
  return {};
}

Status check_weights(const Task& task) {
  const auto& weights = task.timed_weights;
  if (weights.empty()) return {};
  if (weights.size() != task.timed.size())
    return wrong("timed_weights", "there is not one weight for each timed shape");
  constexpr double kRounding = 1e-9;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool positive = std::ranges::all_of(weights, [](double weight) { return weight > 0; });
  if (!positive || !within(sum, {1 - kRounding, 1 + kRounding}))
    return wrong("timed_weights", "the weights must be positive numbers that sum to 1");
  return {};
}

Status check_shapes(const Task& task) {
  if (task.timed.empty()) return wrong("timed", "no shape is timed");
  if (task.timed.size() > kMaxShapes || task.check.size() > kMaxShapes)
    return wrong("timed", "more than 64 shapes");
  if (Status weights = check_weights(task); !weights) return weights;
  if (Status defaults = check_sizes(task, task.sizes); !defaults) return defaults;
  for (const auto* shapes : {&task.timed, &task.check})
    for (const Sizes& sizes : *shapes) {
      if (Status known = check_sizes(task, sizes); !known) return known;
      if (Status terms = check_expression(task.declared.accumulate, sizes, 1); !terms) return terms;
    }
  for (const Sizes& sizes : task.timed)
    for (const auto* expression : {&task.declared.bytes, &task.declared.operations})
      if (Status work = check_expression(*expression, sizes, 0); !work) return work;
  return {};
}

Status check_names(const Task& task, const BackendDescription& backend) {
  if (!is_identifier(task.entry)) return wrong("entry", "'" + task.entry + "' is no C++ identifier");
  if (task.size_order.size() != task.sizes.size() ||
      std::set(task.size_order.begin(), task.size_order.end()).size() != task.sizes.size() ||
      !std::ranges::all_of(task.size_order, [&](const auto& name) { return task.sizes.contains(name); }))
    return wrong("size_order", "it does not name each size once");
  std::set<std::string> names;
  for (const TensorSpec& tensor : task.tensors) {
    if (!is_identifier(tensor.name) || task.sizes.contains(tensor.name) || !names.insert(tensor.name).second)
      return wrong("tensors", "'" + tensor.name + "' cannot name a tensor, or is taken");
    if (std::ranges::find(backend.dtypes, tensor.dtype) == backend.dtypes.end())
      return wrong("tensors",
                   "the backend '" + backend.name + "' does not take " + std::string(name_of(tensor.dtype)));
    if (tensor.constant && tensor.role != TensorRole::in)
      return wrong("tensors", "'" + tensor.name + "' is constant, and written");
  }
  return {};
}

Status check_tolerance(const Tolerance& tolerance) {
  return is_valid(tolerance) ? Status{} : wrong("tolerance", "the tolerance is not valid");
}

Status check_kernel(const Task& task, const BackendDescription& backend) {
  if (Status names = check_names(task, backend); !names) return names;
  const auto written = [](const TensorSpec& tensor) { return tensor.role != TensorRole::in; };
  const auto generated = [](const TensorSpec& tensor) { return tensor.init == TensorInit::generated; };
  if (task.tensors.size() > kMaxTensors || std::ranges::none_of(task.tensors, written))
    return wrong("tensors", "no tensor is written, or there are more than 64");
  if (std::ranges::any_of(task.tensors, generated) == task.inputs.empty())
    return wrong("inputs", "a generator and generated tensors need each other");
  if (Status tolerance = check_tolerance(task.tolerance); !tolerance) return tolerance;
  return check_shapes(task);
}

Status check_module(const Task& task) { return check_tolerance(task.tolerance); }

}  // namespace
}  // namespace task

Status check_task(const Task& task, const BackendDescription& backend) {
  using namespace task;
  if (!within(task.timeout_s, kTimeoutS))
    return wrong("timeout_s", "the time limit is not from 0.01 to 86400 s");
  if (!within(task.threads, kThreads))
    return wrong("threads", std::to_string(task.threads) + " threads (1 to 1024)");
  const bool has_reference = backend.form == TaskForm::kernel || backend.form == TaskForm::module;
  if (has_reference && (task.reference.empty() || task.baseline.empty()))
    return wrong("files", "it has no reference, or no baseline");
  if (backend.settings.check)
    if (Status settings = backend.settings.check(task); !settings) return settings;
  switch (backend.form) {
    case TaskForm::kernel:
      return check_kernel(task, backend);
    case TaskForm::module:
      return check_module(task);
    case TaskForm::command:
      if (task.command.empty()) return wrong("command", "it has no command");
      return {};
    case TaskForm::evaluator:
      if (task.evaluator.path.empty()) return wrong("evaluator", "it has no evaluator");
      return {};
  }
  return {};
}

}  // namespace kernelsmith
