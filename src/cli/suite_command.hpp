// Common code of suite, score and stts: the tasks, the results' folder, and the output.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <kernelsmith/suite/stts.hpp>
#include <kernelsmith/suite/suite.hpp>

#include "run_options.hpp"

namespace kernelsmith::cli {

/// The tasks of a folder, and the folder for the results.
struct TaskSetOptions {
  std::string folder;
  std::vector<unsigned> levels;
  std::optional<std::string> out;

  /// Adds all options except the tasks' folder. The help names `default_out` as the default.
  void add_to(CLI::App& command, const std::string& default_out);
  Result<std::vector<SuiteTask>> tasks() const;
  /// The results' folder; by default the name of `of` with `suffix` in the current folder.
  std::string out_folder(const std::string& of, const std::string& suffix) const;
};

/// The settings of a configuration, in the form in which results record them.
Result<std::map<std::string, std::string>> settings_of(const ConfigOptions& config);

/// Configures the first loadable task, so that an error in the options is reported once and not for each
/// task. With `searches`, also makes its proposer.
Status try_out(const std::vector<SuiteTask>& tasks, const Registry& registry, SuiteHost& host, bool searches);

/// Prints a line such as "[3/10] level1/softmax" to standard error.
void tell_begin(const SuiteTask& task, std::size_t number, std::size_t of);
/// Prints tasks' results to standard error. An error that the task before ended with, too, is not repeated.
class TaskEnds {
 public:
  /// With the task's name if `named`.
  void tell(const TaskResult& result, bool named = false);

 private:
  std::string last_error_;
};

/// Prints the tables and the paths of the files. Returns the exit status: 130 if a stop left results missing,
/// else that of the first error, or 0.
int conclude(const Result<SuiteReport>& report, const std::string& out);
int conclude(const Result<SttsReport>& report, const std::string& out);

}  // namespace kernelsmith::cli
