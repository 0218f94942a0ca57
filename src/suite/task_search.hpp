// The search of one task of a suite, in its own run folder.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include <kernelsmith/suite/suite.hpp>

namespace kernelsmith::suite {

/// A task's run folder, and the path to which a replaced run folder is moved.
struct RunFolders {
  std::filesystem::path run, replaced;
};

RunFolders folders_of(const SuiteTask& task, const SuiteOptions& options);

/// If the run folder holds a run of other files than the task's, moves it away if `renew`, else fails with
/// `invalid_argument`. Otherwise does nothing.
Status make_room(const TaskFolder& task, const RunFolders& folders, const Registry& registry, bool renew);

/// Begins or continues the search with `config`. Returns empty if the search was stopped before its end.
Result<std::optional<Outcome>> search_in(const RunFolders& folders, const TaskFolder& task,
                                         const RunConfig& config, const Registry& registry, SearchHost& host,
                                         const std::stop_token& stop);

/// The result of a task that failed with the error.
TaskResult failed(const Error& error);

}  // namespace kernelsmith::suite
