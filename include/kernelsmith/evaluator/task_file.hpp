// Loads a task from its folder (docs/formats.md, task.yaml).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// Loads the task at `path`, a folder with a task.yaml or that file itself, with the texts of all its files.
/// Every error names the file and the line. For unknown keys and names it suggests the nearest known one. If
/// `backends` (Registry::backends) are given, the task must be for one of them, with dtypes that it supports.
/// If none are given, the backend that gets the task checks this, and keys that are specific to a backend are
/// refused as unknown. Errors: `not_found`, `permission`, `io` for files, `bad_input` for their content.
Result<Task> load_task(const std::filesystem::path& path, const Backends& backends = {});

/// Reads a file of the task by its path relative to the task's folder.
using TaskFileReader = std::function<Result<std::string>(const std::string& path)>;

/// Loads a task from a text. `name` is its file name in errors; `read` reads the files that it names. A path
/// that is absolute or leaves the folder is refused before `read` is called.
Result<Task> parse_task(std::string_view yaml, std::string_view name, const TaskFileReader& read,
                        const Backends& backends = {});

/// Applies the checks of parse_task() to a task that was received in a message: sizes, shapes, expressions,
/// time limit, and the files that its backend needs. Errors: `bad_input`.
Status check_task(const Task& task, const BackendDescription& backend);

/// The name of a file in a copy of a task. It has the path of the evaluator, which runs in its original
/// place.
inline constexpr std::string_view kEvaluatorPathFile = "evaluator.path";

/// The digest of everything that can change a verdict. parse_task() stores it in Task::digest.
Digest task_digest(const Task& task);

}  // namespace kernelsmith
