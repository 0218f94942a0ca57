#include "adaptive.hpp"

#include <optional>
#include <utility>

#include "outage.hpp"
#include "task_search.hpp"

namespace kernelsmith::suite {
namespace {

/// A task between its slices.
struct Entry {
  const SuiteTask* task = nullptr;
  RunFolders folders;
  std::optional<TaskFolder> files = {};  ///< empty if they cannot be loaded
  std::optional<RunConfig> config = {};  ///< configuration of all slices, without budgets
  TaskStanding standing = {};
  TaskResult result = {};
};

class AdaptiveSuite {
 public:
  AdaptiveSuite(const SuiteOptions& options, const Registry& registry, SearchHost& host, std::stop_token stop)
      : options_(options), registry_(registry), host_(host), stop_(std::move(stop)) {}

  /// Determines the state of the tasks from their files and run folders.
  void look_at(const std::vector<SuiteTask>& tasks);

  /// Searches until the budget is used up. False if it was stopped; an error is an outage.
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
  // The rest of one slice does not measure flatness; next_grant() uses the rest of the total.
  entry.standing.until_flat = std::exchange(entry.config->budgets.until_flat, std::nullopt);
  if (const Status free = make_room(*entry.files, entry.folders, registry_, options_.renew); !free)
    return fail_task(entry, free.error());
  std::error_code ignored;
  if (!std::filesystem::exists(entry.folders.run / "run.db", ignored)) return;
  if (const Status read = take_stock(entry); !read) fail_task(entry, read.error());
}

/// A refused run counts as interrupted: resuming it repeats the error that this call reports.
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
    // An interruption by a stop request is not the task's fault.
    if (stop_.stop_requested() && (!outcome || !*outcome)) break;
    if (outcome && !*outcome) break;
    const auto error = outcome ? (*outcome)->error : std::optional(outcome.error());
    if (error) fail_task(entry, *error);
    host_.end(entry.result);
    if (const auto broken = outage.after(outcome ? error : std::nullopt)) return *broken;
  }
  return false;
}

}  // namespace

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

}  // namespace kernelsmith::suite
