// Searching many tasks, or scoring candidates for them: one after another, in an output folder that the same
// call goes on with after an interruption or a kill.
//
// The folder holds `suite.json` or `score.json` (the state, and what was found), levels.csv, tasks.csv,
// report.md, and for a suite `runs/NAME`, the run folder of each task, and `replaced/NAME`, those of tasks
// that were changed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/suite/allocation.hpp>
#include <kernelsmith/suite/candidates.hpp>
#include <kernelsmith/suite/report.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {

/// Configures each task of a suite, and follows its progress. Called on one thread.
class SuiteHost {
 public:
  virtual ~SuiteHost() = default;
  /// The configuration for one task. An error becomes the task's result.
  virtual Result<RunConfig> configure(const Task& task) = 0;
  /// A task comes next; `number` counts from 1.
  virtual void begin(const SuiteTask& task, std::size_t number, std::size_t of) = 0;
  /// A task has its result.
  virtual void end(const TaskResult& result) = 0;
};

/// The host of a suite whose searches somebody drives and watches.
class SearchHost : public SuiteHost {
 public:
  /// Follows the search that begins; may be null.
  virtual std::shared_ptr<Observer> observer() = 0;
  /// Session::run() with whatever is to be seen of it.
  virtual Result<Outcome> search(Session& session) = 0;
};

/// What all results in an output folder share.
struct SuiteOptions {
  std::filesystem::path out;
  /// In words; a folder with results under other settings is refused.
  std::map<std::string, std::string> settings;
  /// For a suite: a task that was changed since its search began is searched anew, and its former run folder
  /// moved to `replaced/NAME` (then NAME.2, ...). Else it is a result with an error.
  bool renew = false;
  /// For a suite: its tasks share one budget of evaluations. Empty: each has that of its configuration.
  std::optional<Allocation> allocation = std::nullopt;
};

/// Searches every task that has no result yet, or one with an error, and brings the files up to date after
/// each. A task that fails is a result with its error, and the others go on. Stopped, it returns what there
/// is: fewer results than tasks. With an allocation a task is searched in slices, and results are there when
/// all is handed out. Errors: what a server or a full disk did to three searches in a row, `busy`
/// for a folder in use, `invalid_argument` for one with other settings, `bad_input`, `version`, and the file
/// system's.
Result<SuiteReport> search_suite(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                 const Registry& registry, SearchHost& host,
                                 const std::stop_token& stop = {});

/// Evaluates each task's candidates and keeps the best, in the same way; `careful` is EvaluationJob's. A
/// result is taken as it stands while the task and its candidates are unchanged.
Result<SuiteReport> score_candidates(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates,
                                     const SuiteOptions& options, const Registry& registry, SuiteHost& host,
                                     bool careful, const std::stop_token& stop = {});

/// What a stored run came to. `name` and `level` are left to the caller. Errors: those of reading the
/// journal.
Result<TaskResult> result_of(const RunView& run);

}  // namespace kernelsmith
