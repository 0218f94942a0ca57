// The JSON codec of a Task, for tasks that are sent to other machines. docs/fleet.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Writes every field of the task, including its digest. Canonical as in kernelsmith/config/json.hpp.
/// Thread-safe.
std::string to_json(const Task& task);

/// Parses a task. The loader's checks of a task.yaml are not repeated: compare `Task::digest` with
/// evaluator/task_file's task_digest(), and accept tasks only from those you trust. Errors: `bad_input` with
/// the path inside the document, also for further files whose paths leave the folder.
Result<Task> task_from_json(std::string_view text);

}  // namespace kernelsmith
