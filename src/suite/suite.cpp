#include <optional>

#include <kernelsmith/core/files.hpp>
#include <kernelsmith/suite/suite.hpp>

#include "outage.hpp"
#include "result_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

/// A task's run folder, and where it goes when it has to make room.
struct RunFolders {
  fs::path run, replaced;
};

/// A run that other files were searched in says nothing about these.
Result<bool> is_unchanged(const fs::path& run, const Task& task, const Registry& registry) {
  const auto stored = load_stored_run(run, registry);
  if (!stored) return stored.error();
  return stored->task.task.digest == task.digest;
}

Status set_aside(const RunFolders& folders) {
  fs::path to = folders.replaced;
  std::error_code failed;
  for (int i = 2; fs::exists(to, failed); ++i) to = folders.replaced.string() + "." + std::to_string(i);
  fs::create_directories(to.parent_path(), failed);
  if (!failed) fs::rename(folders.run, to, failed);
  return failed ? Status(system_error("the former run cannot be moved away", folders.run, failed.value()))
                : Status();
}

Result<Session> open_session(const TaskFolder& task, const RunFolders& folders, const RunConfig& config,
                             const Registry& registry, bool renew, const std::shared_ptr<Observer>& observer,
                             const std::stop_token& stop) {
  std::error_code ignored;
  if (fs::exists(folders.run / "run.db", ignored)) {
    const auto unchanged = is_unchanged(folders.run, task.task, registry);
    if (!unchanged) return unchanged.error();
    // The same configuration again, and not what stands in the run folder: this one is the user's word.
    const auto as_given = [&](RunConfig& stored) -> Status {
      stored = config;
      set_default_axes(task.task, stored);
      return {};
    };
    if (*unchanged) return Session::resume(folders.run, as_given, registry, observer, stop);
    if (!renew)
      return fail(ErrorCode::invalid_argument, "the task was changed since its search began",
                  folders.run.string(),
                  "the same command with --renew searches the task as it is now, and keeps this folder as " +
                      folders.replaced.string());
    if (const Status moved = set_aside(folders); !moved) return moved.error();
  }
  return Session::create(task, folders.run, config, observer, stop);
}

/// Empty if the search was stopped before its end.
Result<std::optional<TaskResult>> search_task(const TaskFolder& task, const RunFolders& folders,
                                              const Registry& registry, bool renew, SearchHost& host,
                                              const std::stop_token& stop) {
  const auto config = host.configure(task.task);
  if (!config) return config.error();
  std::optional<Error> ended_by;
  {
    auto session = open_session(task, folders, *config, registry, renew, host.observer(), stop);
    if (!session) return session.error();
    const auto outcome = host.search(*session);
    if (!outcome) return outcome.error();
    if (outcome->reason == EndReason::stopped) return std::optional<TaskResult>();
    ended_by = outcome->error;
  }
  const auto view = view_run(folders.run, registry);
  if (!view) return view.error();
  auto result = result_of(*view);
  if (!result) return result.error();
  result->error = ended_by;
  return std::optional(std::move(*result));
}

TaskResult failed(const Error& error) {
  TaskResult result;
  result.error = error;
  return result;
}

}  // namespace

Result<SuiteReport> search_suite(const std::vector<SuiteTask>& tasks, const SuiteOptions& options,
                                 const Registry& registry, SearchHost& host, const std::stop_token& stop) {
  auto results = suite::ResultFolder::open("suite", tasks, options);
  if (!results) return results.error();
  suite::Outage outage("searches");
  for (std::size_t i = 0; i < tasks.size() && !stop.stop_requested(); ++i) {
    const SuiteTask& task = tasks[i];
    const auto loaded = load_task_folder(task.path, registry.backends);
    if (loaded && results->has(task, loaded->task.digest.hex())) continue;
    host.begin(task, i + 1, tasks.size());
    const RunFolders folders{options.out / "runs" / task.name, options.out / "replaced" / task.name};
    auto searched = loaded ? search_task(*loaded, folders, registry, options.renew, host, stop)
                           : Result<std::optional<TaskResult>>(loaded.error());
    // What a stop broke off is no fault of the task's.
    if (stop.stop_requested() && (!searched || !*searched)) break;
    if (searched && !*searched) break;
    TaskResult result = searched ? std::move(**searched) : failed(searched.error());
    const auto broken = outage.after(searched ? result.error : std::nullopt);
    host.end(result);
    if (const Status kept = results->add(task, std::move(result)); !kept) return kept.error();
    if (broken) return *broken;
  }
  if (const Status written = results->write(); !written) return written.error();
  return results->report();
}

}  // namespace kernelsmith
