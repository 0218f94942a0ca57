// The search of one task of a suite, in its own run folder.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include <kernelsmith/suite/suite.hpp>

namespace kernelsmith::suite {

/// A task's run folder, and the place to which it is moved if it is replaced.
struct RunFolders {
  std::filesystem::path run, replaced;
};

RunFolders folders_of(const SuiteTask& task, const SuiteOptions& options);

/// A run for other files than the task's is not valid for it: moves it away if `renew`, else fails
/// (`invalid_argument`). Does nothing without such a run.
Status make_room(const TaskFolder& task, const RunFolders& folders, const Registry& registry, bool renew);

/// Begins or continues the search with `config`. Empty if it was stopped before its end.
Result<std::optional<Outcome>> search_in(const RunFolders& folders, const TaskFolder& task,
                                         const RunConfig& config, const Registry& registry, SearchHost& host,
                                         const std::stop_token& stop);

/// The result of a failed task.
TaskResult failed(const Error& error);

}  // namespace kernelsmith::suite
