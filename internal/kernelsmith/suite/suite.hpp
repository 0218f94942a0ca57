// Searches many tasks one after another, or scores candidates for them. After an interruption or a kill the
// same call continues in the output folder.
//
// The folder has `suite.json` or `score.json` (state and results), levels.csv, tasks.csv and report.md. A
// suite also has `runs/NAME`, the run folder of each task, and `replaced/NAME`, the run folders of changed
// tasks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/session/session.hpp>
#include <kernelsmith/suite/allocation.hpp>
#include <kernelsmith/suite/candidates.hpp>
#include <kernelsmith/suite/report.hpp>
#include <kernelsmith/suite/tasks.hpp>

namespace kernelsmith {

/// Configures each task of a suite, and follows its progress. Never called by two threads at the same time.
class SuiteHost {
 public:
  virtual ~SuiteHost() = default;
  /// The configuration for one task. An error becomes the task's result.
  virtual Result<RunConfig> configure(const Task& task) = 0;
  /// A task begins; `number` counts from 1.
  virtual void begin(const SuiteTask& task, std::size_t number, std::size_t of) = 0;
  /// A task has its result. With SuiteOptions::at_once others may have begun since this one did.
  virtual void end(const TaskResult& result) = 0;
};

/// A host that drives and watches the searches of a suite.
class SearchHost : public SuiteHost {
 public:
  /// The observer of the next search; may be null.
  virtual std::shared_ptr<Observer> observer() = 0;
  /// Calls Session::run() and shows its progress.
  virtual Result<Outcome> search(Session& session) = 0;
};

/// Options that all results in an output folder share.
struct SuiteOptions {
  std::filesystem::path out;
  /// Settings in words. A folder with results for other settings is refused.
  std::map<std::string, std::string> settings;
  /// For a suite: a task that changed since its search began is searched again, and its old run folder is
  /// moved to `replaced/NAME` (then NAME.2, ...). If false, its result is an error.
  bool renew = false;
  /// For a suite whose tasks share one budget of evaluations. If empty, each task has the budget of its
  /// configuration.
  std::optional<Allocation> allocation = std::nullopt;
  /// For scoring: how many tasks are prepared and evaluated at once. On a GPU they take turns in measuring.
  std::size_t at_once = 1;
  /// For scoring: after this time a task's result is the error `timeout`.
  Seconds longest_task = Seconds::max();
};

/// Searches every task without a result or with an error, and updates the files after each. If a task fails,
/// its result is the error, and the others continue. After a stop request it returns the results so far. With
/// an allocation, a task is searched in slices, and results appear when the budget is used up. Errors: the
/// error that a server or a full disk caused in three searches in a row; `busy` for a folder in use;
/// `invalid_argument` for a folder with other settings; `bad_input`; `version`; the file system's.
Result<SuiteReport> search_suite(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                 const Registry& registry, SearchHost& host,
                                 const std::stop_token& stop = {});

/// Evaluates each task's candidates and keeps the best, in the same way as search_suite(). `careful` is
/// EvaluationJob's. A result is kept while the task and its candidates are unchanged.
Result<SuiteReport> score_candidates(const std::vector<SuiteTask>& tasks, const FoundCandidates& candidates,
                                     const SuiteOptions& options, const Registry& registry, SuiteHost& host,
                                     bool careful, const std::stop_token& stop = {});

/// The result of a stored run, without `name` and `level`. Errors: those of reading the journal.
Result<TaskResult> result_of(const RunView& run);

}  // namespace kernelsmith
