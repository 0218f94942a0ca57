// The output folder of a suite or a scoring. It holds the results so far, and is locked against other
// writers.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/suite/report.hpp>
#include <kernelsmith/suite/suite.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith::suite {

/// Used by one thread. Only one process at a time may have the folder open.
class ResultFolder {
 public:
  /// Makes the folder, or opens it with the results that it has. `kind` is SuiteReport's.
  static Result<ResultFolder> open(const std::string& kind, const std::vector<SuiteTask>& tasks,
                                   const SuiteOptions& options);

  /// Whether the task has a result without an error for `basis`.
  bool has(const SuiteTask& task, const std::string& basis) const;

  /// Sets the result of `task`, and writes all files.
  Status add(const SuiteTask& task, TaskResult result);

  /// Writes all files, because the results may be from an earlier call with fewer tasks.
  Status write() const;

  SuiteReport report() const;

 private:
  ResultFolder(std::string kind, std::vector<SuiteTask> tasks, SuiteOptions options, Descriptor lock)
      : kind_(std::move(kind)),
        tasks_(std::move(tasks)),
        options_(std::move(options)),
        lock_(std::move(lock)) {}

  std::filesystem::path state_file() const { return options_.out / (kind_ + ".json"); }
  Status read();

  std::string kind_;
  std::vector<SuiteTask> tasks_;
  SuiteOptions options_;
  Descriptor lock_;
  std::map<std::string, TaskResult> results_;  ///< by the task's name
};

}  // namespace kernelsmith::suite
