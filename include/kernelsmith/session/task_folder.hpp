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
  std::vector<SourceFile> files;  ///< task.yaml and every file that it names; paths are relative to the
                                  ///< folder
};

/// Loads the task at `path`: a folder with a task.yaml, that file itself, a KernelBench problem (.py),
/// or a problem as an arena stores it (docs/arenas.md).
/// Errors: `not_found`, `permission` and `io` for files, `bad_input` with file:line for their content.
/// `backends` are the registry's, as for load_task().
Result<TaskFolder> load_task_folder(const std::filesystem::path& path, const Backends& backends = {});

/// The task that the files describe. One of them is task.yaml; errors call it `where`.
Result<TaskFolder> task_of_files(std::vector<SourceFile> files, const std::string& where,
                                 const Backends& backends);

/// Writes the files below `folder`.
Status write_task_folder(const TaskFolder& task, const std::filesystem::path& folder);

/// The text of a file of at most 4 MiB. Errors: `not_found`, `permission`, `io`; `bad_input` for other files.
Result<std::string> read_text_file(const std::filesystem::path& path);

/// Reads a candidate for the task from `path`. If the seed is one file, `path` is a file and gets the seed's
/// file name. If the seed has several files, `path` is a folder with those files. Without a seed, a candidate
/// is one file. For a torch task the file may also be a solution.json of FlashInfer-Bench or SOL-ExecBench,
/// or a submission.py of GPU MODE, and gets a ModelNew.
Result<Source> load_candidate(const Task& task, const std::filesystem::path& path);

}  // namespace kernelsmith
