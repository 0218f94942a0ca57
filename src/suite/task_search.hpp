// The search of one task of a suite, in its own run folder.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include <kernelsmith/suite/suite.hpp>

namespace kernelsmith::suite {

/// A task's run folder, and where it goes when it has to make room.
struct RunFolders {
  std::filesystem::path run, replaced;
};

RunFolders folders_of(const SuiteTask& task, const SuiteOptions& options);

/// A run of other files than the task's says nothing about it: it is moved away if `renew`, else that is the
/// error (`invalid_argument`). Without such a run nothing happens.
Status make_room(const TaskFolder& task, const RunFolders& folders, const Registry& registry, bool renew);

/// Begins the search or goes on with it, under `config`. Empty if it was stopped before its end.
Result<std::optional<Outcome>> search_in(const RunFolders& folders, const TaskFolder& task,
                                         const RunConfig& config, const Registry& registry, SearchHost& host,
                                         const std::stop_token& stop);

/// The result of a task that came to nothing.
TaskResult failed(const Error& error);

}  // namespace kernelsmith::suite
