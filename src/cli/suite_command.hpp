// What suite, score and stts have in common: which tasks, where the results go, and how they are shown.
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

  /// All but the folder of the tasks. `default_out` is for the help.
  void add_to(CLI::App& command, const std::string& default_out);
  Result<std::vector<SuiteTask>> tasks() const;
  /// The results' folder: if none was named, that of `of` with `suffix`, here.
  std::string out_folder(const std::string& of, const std::string& suffix) const;
};

/// The settings that a configuration's options stand for, as results keep them.
Result<std::map<std::string, std::string>> settings_of(const ConfigOptions& config);

/// Configures the first task that can be loaded: what is wrong with the options is one error, and not one for
/// each task. `searches`: there is to be a proposer, too.
Status try_out(const std::vector<SuiteTask>& tasks, const Registry& registry, SuiteHost& host, bool searches);

/// "[3/10] level1/softmax", on the standard error.
void tell_begin(const SuiteTask& task, std::size_t number, std::size_t of);
/// What a task came to, likewise.
void tell_end(const TaskResult& result);

/// Prints the tables and where the files are. Returns the exit status: 130 if results are missing, because
/// it was stopped; else that of the first error, or 0.
int conclude(const Result<SuiteReport>& report, const std::string& out);
int conclude(const Result<SttsReport>& report, const std::string& out);

}  // namespace kernelsmith::cli
