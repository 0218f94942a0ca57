// Reads the files that a task.yaml names under `files` from the task's folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith::task {

/// A file that the task names, and the place of the name.
struct NamedFile {
  std::string path;
  std::string where;
};

struct NamedFiles {
  std::vector<NamedFile> reference, baseline, seed, yardstick, oracle, inputs, also;
};

void read_files(YamlMap& in, NamedFiles& files);

/// Reads all files into the task. The reference is the default baseline.
Status load_files(const NamedFiles& files, const TaskFileReader& read, Task& task);

/// Reads a regular file of at most 4 MiB.
Result<std::string> read_file(const std::filesystem::path& path);

/// Reads a regular file below `folder`; a link that leads out of it is refused.
Result<std::string> read_below(const std::filesystem::path& folder, const std::string& relative);

}  // namespace kernelsmith::task
