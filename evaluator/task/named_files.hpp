// The files that a task.yaml names: their key `files`, and reading them from the task's folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith::task {

/// A file that the task names, and where it does.
struct NamedFile {
  std::string path;
  std::string where;
};

struct NamedFiles {
  std::vector<NamedFile> reference, baseline, seed, yardstick, oracle, inputs, also;
};

void read_files(YamlMap& in, NamedFiles& files);

/// Reads them all into the task; a task without a baseline gets its reference as one.
Status load_files(const NamedFiles& files, const TaskFileReader& read, Task& task);

/// Reads a regular file of at most 4 MiB.
Result<std::string> read_file(const std::filesystem::path& path);

/// Reads a regular file below `folder`; a link that leads out of it is refused like a path that does.
Result<std::string> read_below(const std::filesystem::path& folder, const std::string& relative);

}  // namespace kernelsmith::task
