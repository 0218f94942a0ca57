// The searches of a suite, one after another. Each has its own budget, or all share one.
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <kernelsmith/suite/suite.hpp>

#include "outage.hpp"
#include "result_folder.hpp"
#include "task_search.hpp"

namespace kernelsmith {
namespace suite {
namespace {

/// A task, and what is known of it between its slices of the budget.
struct Entry {
  const SuiteTask* task = nullptr;
  RunFolders folders;
  std::optional<TaskFolder> files = {};  ///< empty if the files cannot be loaded
  std::optional<RunConfig> config = {};  ///< the configuration of all slices, without their budgets
  TaskStanding standing = {};
  TaskResult result = {};
};

class AdaptiveSuite {
 public:
  AdaptiveSuite(const SuiteOptions& options, const Registry& registry, SearchHost& host, std::stop_token stop)
      : options_(options), registry_(registry), host_(host), stop_(std::move(stop)) {}

  /// Finds the state of each task from its files and its run folder.
  void look_at(const std::vector<SuiteTask>& tasks);

  /// Searches until the budget is handed out. Returns false if a stop request ended it before. An error is an
  /// outage.
  Result<bool> search();

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  void look_at(Entry& entry);
  Result<std::optional<Outcome>> search(Entry& entry, std::uint64_t evaluations);
  Status take_stock(Entry& entry);
  static void fail_task(Entry& entry, const Error& error);

  const SuiteOptions& options_;
  const Registry& registry_;
  SearchHost& host_;
  std::stop_token stop_;
  std::vector<Entry> entries_;
};

void AdaptiveSuite::fail_task(Entry& entry, const Error& error) {
  entry.standing.ended = true;
  entry.result.error = error;
}

void AdaptiveSuite::look_at(const std::vector<SuiteTask>& tasks) {
  for (const SuiteTask& task : tasks) {
    Entry& entry = entries_.emplace_back(Entry{.task = &task, .folders = folders_of(task, options_)});
    look_at(entry);
  }
}

void AdaptiveSuite::look_at(Entry& entry) {
  auto loaded = load_task_folder(entry.task->path, registry_.backends);
  if (!loaded) return fail_task(entry, loaded.error());
  entry.files = std::move(*loaded);
  auto config = host_.configure(entry.files->task);
  if (!config) return fail_task(entry, config.error());
  entry.config = std::move(*config);
  // A slice must not end as flat: next_grant() judges flatness by what is left of the total budget.
  entry.standing.until_flat = std::exchange(entry.config->budgets.until_flat, std::nullopt);
  if (const Status free = make_room(*entry.files, entry.folders, registry_, options_.renew); !free)
    return fail_task(entry, free.error());
  std::error_code ignored;
  if (!std::filesystem::exists(entry.folders.run / "run.db", ignored)) return;
  if (const Status read = take_stock(entry); !read) fail_task(entry, read.error());
}

/// Reads the state of a task from its run. Treats a refused run as interrupted, because continuing it reports
/// its error again, which this call must report too.
Status AdaptiveSuite::take_stock(Entry& entry) {
  const auto view = view_run(entry.folders.run, registry_);
  if (!view) return view.error();
  auto result = result_of(*view);
  if (!result) return result.error();
  entry.result = std::move(*result);
  const SearchState& state = view->state;
  TaskStanding& standing = entry.standing;
  standing.granted = state.budgets().evaluations.value_or(0);
  standing.used = state.counts().evaluations;
  standing.improvements = state.improvements();
  standing.interrupted = view->reason == EndReason::unfinished || view->reason == EndReason::refused;
  const bool spent =
      view->reason == EndReason::budget && state.used_up(state.elapsed_s()) == BudgetName::evaluations;
  standing.ended = !standing.interrupted && !spent;
  return {};
}

Result<std::optional<Outcome>> AdaptiveSuite::search(Entry& entry, std::uint64_t evaluations) {
  entry.config->budgets.evaluations = evaluations;
  auto outcome = search_in(entry.folders, *entry.files, *entry.config, registry_, host_, stop_);
  if (!outcome || !*outcome) return outcome;
  if (const Status read = take_stock(entry); !read) return read.error();
  return outcome;
}

Result<bool> AdaptiveSuite::search() {
  Outage outage("searches");
  while (!stop_.stop_requested()) {
    std::vector<TaskStanding> standings;
    for (const Entry& entry : entries_) standings.push_back(entry.standing);
    const auto grant = next_grant(standings, *options_.allocation);
    if (!grant) return true;
    Entry& entry = entries_[grant->task];
    host_.begin(*entry.task, grant->task + 1, entries_.size());
    const auto outcome = search(entry, grant->evaluations);
    // The stop request caused the error, not the task.
    if (stop_.stop_requested() && (!outcome || !*outcome)) break;
    if (outcome && !*outcome) break;
    const auto error = outcome ? (*outcome)->error : std::optional(outcome.error());
    if (error) fail_task(entry, *error);
    host_.end(entry.result);
    if (const auto broken = outage.after(outcome ? error : std::nullopt)) return *broken;
  }
  return false;
}

/// Implements search_suite() with an allocation. Only the run folders record the progress: each holds the
/// budget of its search and what the search found. Adds the results once the whole budget is handed out.
Result<SuiteReport> search_adaptively(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                      const Registry& registry, SearchHost& host, const std::stop_token& stop,
                                      ResultFolder results) {
  AdaptiveSuite adaptive(options, registry, host, stop);
  adaptive.look_at(tasks);
  const auto whole = adaptive.search();
  if (!whole) return whole.error();
  if (*whole)
    for (const Entry& entry : adaptive.entries())
      if (const Status kept = results.add(*entry.task, entry.result); !kept) return kept.error();
  if (const Status written = results.write(); !written) return written.error();
  return results.report();
}

}  // namespace
}  // namespace suite

namespace {

/// Returns empty if the search was stopped before its end.
Result<std::optional<TaskResult>> search_task(const TaskFolder& task, const suite::RunFolders& folders,
                                              const Registry& registry, bool renew, SearchHost& host,
                                              const std::stop_token& stop) {
  const auto config = host.configure(task.task);
  if (!config) return config.error();
  if (const Status free = suite::make_room(task, folders, registry, renew); !free) return free.error();
  const auto outcome = suite::search_in(folders, task, *config, registry, host, stop);
  if (!outcome) return outcome.error();
  if (!*outcome) return std::optional<TaskResult>();
  const auto view = view_run(folders.run, registry);
  if (!view) return view.error();
  auto result = result_of(*view);
  if (!result) return result.error();
  result->error = (*outcome)->error;
  return std::optional(std::move(*result));
}

}  // namespace

Result<SuiteReport> search_suite(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                 const Registry& registry, SearchHost& host, const std::stop_token& stop) {
  auto results = suite::ResultFolder::open("suite", tasks, options);
  if (!results) return results.error();
  if (options.allocation)
    return suite::search_adaptively(tasks, options, registry, host, stop, std::move(*results));
  suite::Outage outage("searches");
  for (std::size_t i = 0; i < tasks.size() && !stop.stop_requested(); ++i) {
    const SuiteTask& task = tasks[i];
    const auto loaded = load_task_folder(task.path, registry.backends);
    if (loaded && results->has(task, loaded->task.digest.hex())) continue;
    host.begin(task, i + 1, tasks.size());
    auto searched =
        loaded ? search_task(*loaded, suite::folders_of(task, options), registry, options.renew, host, stop)
               : Result<std::optional<TaskResult>>(loaded.error());
    // The stop request caused the error, not the task.
    if (stop.stop_requested() && (!searched || !*searched)) break;
    if (searched && !*searched) break;
    TaskResult result = searched ? std::move(**searched) : suite::failed(searched.error());
    const auto broken = outage.after(searched ? result.error : std::nullopt);
    host.end(result);
    if (const Status kept = results->add(task, std::move(result)); !kept) return kept.error();
    if (broken) return *broken;
  }
  if (const Status written = results->write(); !written) return written.error();
  return results->report();
}

}  // namespace kernelsmith
