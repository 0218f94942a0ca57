// KernelBench's problems as tasks of the backend `torch`: a Python file with Model, get_inputs() and
// get_init_inputs().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

namespace kernelsmith {

/// The files of such a task: task.yaml with comments, and the unchanged problem as reference.py. The task is
/// named after the file and has no seed. Errors: read_text_file()'s; bad_input if the file is not a problem.
Result<std::vector<SourceFile>> files_of_problem(const std::filesystem::path& file);

/// The name as one that a task and a folder can have: letters, digits, "_", "-" and ".".
std::string clean_name(std::string name);

/// The name of the task for this file.
std::string problem_name(const std::filesystem::path& file);

/// The text of task.yaml, with comments, for a problem next to it as reference.py.
std::string problem_yaml(const std::string& name, const TorchSettings& torch);

/// Checks that `text` defines everything that a problem needs, with its module called `entry_point`. Errors:
/// bad_input.
Status check_problem(std::string_view text, const std::string& where,
                     const std::string& entry_point = "Model");

}  // namespace kernelsmith
