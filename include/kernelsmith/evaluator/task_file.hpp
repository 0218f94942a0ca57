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
/// Every error names file and line; unknown keys and names are refused with the nearest known one. With
/// `backends` (Registry::backends) the task must be of one of them, with dtypes that it takes. Without any,
/// that is left to the backend that gets the task, and keys that only one backend has are refused as unknown.
/// Errors: `not_found`, `permission`, `io` for files, `bad_input` for their content.
Result<Task> load_task(const std::filesystem::path& path, const Backends& backends = {});

/// Gives the text of a file that the task names, by its path relative to the task's folder.
using TaskFileReader = std::function<Result<std::string>(const std::string& path)>;

/// The same from a text: `name` stands for the file in errors, `read` serves the files it names. A path that
/// is absolute or climbs out of the folder is refused before `read` sees it.
Result<Task> parse_task(std::string_view yaml, std::string_view name, const TaskFileReader& read,
                        const Backends& backends = {});

/// What parse_task() asks of a task.yaml, asked of a task that came in a message: sizes, shapes, expressions,
/// time limit, and the files that a task of this backend needs. Errors: `bad_input`.
Status check_task(const Task& task, const BackendDescription& backend);

/// In a copy of a task: holds the path of the evaluator, which is run at its own place.
inline constexpr std::string_view kEvaluatorPathFile = "evaluator.path";

/// The digest of everything that can change a verdict; what parse_task stores in Task::digest.
Digest task_digest(const Task& task);

}  // namespace kernelsmith
