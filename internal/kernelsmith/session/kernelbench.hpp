// KernelBench's problems as tasks of the backend `torch`: a Python file with Model, get_inputs() and
// get_init_inputs().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The files of such a task: task.yaml, with comments, and the problem as it is, as reference.py. The task
/// has the file's name, and no seed. Errors: those of read_text_file(); bad_input for another file.
Result<std::vector<SourceFile>> files_of_problem(const std::filesystem::path& file);

/// The name that the task of this file gets: that of a folder.
std::string problem_name(const std::filesystem::path& file);

}  // namespace kernelsmith
