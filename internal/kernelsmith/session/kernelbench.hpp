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

/// The files of such a task: task.yaml, with comments, and the problem as it is, as reference.py. The task
/// has the file's name, and no seed. Errors: those of read_text_file(); bad_input for another file.
Result<std::vector<SourceFile>> files_of_problem(const std::filesystem::path& file);

/// The name that the task of this file gets: that of a folder.
std::string problem_name(const std::filesystem::path& file);

/// The text of task.yaml, with comments, for a problem that lies beside it as reference.py.
std::string problem_yaml(const std::string& name, const TorchSettings& torch);

/// Whether `text` defines what a problem has, with its module called `entry_point`. Errors: bad_input.
Status check_problem(std::string_view text, const std::string& where,
                     const std::string& entry_point = "Model");

}  // namespace kernelsmith
