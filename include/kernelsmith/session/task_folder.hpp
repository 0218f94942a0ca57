// TaskFolder: a task with its files, so that a run can keep a copy of them.
#pragma once

#include <filesystem>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// A task, and the files that it was loaded from.
struct TaskFolder {
  Task task;
  std::vector<SourceFile> files;  ///< task.yaml and every file it names, by path relative to the folder
};

/// Loads the task at `path`: a folder with a task.yaml, that file itself, or a KernelBench problem (.py).
/// Errors: `not_found`, `permission` and `io` for files, `bad_input` with file:line for their content.
/// `backends` are the registry's, as for load_task().
Result<TaskFolder> load_task_folder(const std::filesystem::path& path, const Backends& backends = {});

/// The task that the files describe, task.yaml among them; `where` names that one in errors.
Result<TaskFolder> task_of_files(std::vector<SourceFile> files, const std::string& where,
                                 const Backends& backends);

/// Writes the files below `folder`.
Status write_task_folder(const TaskFolder& task, const std::filesystem::path& folder);

/// The text of a file of at most 4 MiB. Errors: `not_found`, `permission`, `io`, `bad_input` for others.
Result<std::string> read_text_file(const std::filesystem::path& path);

/// Reads a candidate for the task at `path`: a file is named like the seed's only file; a folder holds the
/// files of a seed with several.
Result<Source> load_candidate(const Task& task, const std::filesystem::path& path);

}  // namespace kernelsmith
