// The JSON codec of a Task, for tasks that travel to other machines. docs/fleet.md writes the form down.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Every field of the task, its digest included. Canonical as in kernelsmith/config/json.hpp. Thread-safe.
std::string to_json(const Task& task);

/// The task that `text` holds. What a loader checks of a task.yaml is not checked again: compare
/// `Task::digest` with evaluator/task_file's task_digest(), and take tasks from those you trust.
/// Errors: `bad_input` with the path inside the document, also for further files whose paths climb out.
Result<Task> task_from_json(std::string_view text);

}  // namespace kernelsmith
