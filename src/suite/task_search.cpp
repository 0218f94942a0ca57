#include "task_search.hpp"

#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::suite {
namespace {

namespace fs = std::filesystem;

bool has_run(const RunFolders& folders) {
  std::error_code ignored;
  return fs::exists(folders.run / "run.db", ignored);
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

Result<Session> open_session(const RunFolders& folders, const TaskFolder& task, const RunConfig& config,
                             const Registry& registry, const std::shared_ptr<Observer>& observer,
                             const std::stop_token& stop) {
  if (!has_run(folders)) return Session::create(task, folders.run, config, observer, stop);
  // Uses the configuration that the user gave, not the one in the run folder. Axes that nobody gave stay,
  // since an earlier version may have had others by default.
  const auto as_given = [&](RunConfig& stored) -> Status {
    auto axes = std::move(stored.axes);
    stored = config;
    if (!stored.axes && !stored.axes_preset) stored.axes = std::move(axes);
    set_default_axes(task.task, stored);
    return {};
  };
  return Session::resume(folders.run, as_given, registry, observer, stop);
}

}  // namespace

RunFolders folders_of(const SuiteTask& task, const SuiteOptions& options) {
  return {options.out / "runs" / task.name, options.out / "replaced" / task.name};
}

Status make_room(const TaskFolder& task, const RunFolders& folders, const Registry& registry, bool renew) {
  if (!has_run(folders)) return {};
  const auto stored = load_stored_run(folders.run, registry);
  if (!stored) return stored.error();
  if (stored->task.task.digest == task.task.digest) return {};
  if (renew) return set_aside(folders);
  return fail(ErrorCode::invalid_argument, "the task was changed since its search began",
              folders.run.string(),
              "the same command with --renew searches the task as it is now, and keeps this folder as " +
                  folders.replaced.string());
}

Result<std::optional<Outcome>> search_in(const RunFolders& folders, const TaskFolder& task,
                                         const RunConfig& config, const Registry& registry, SearchHost& host,
                                         const std::stop_token& stop) {
  auto session = open_session(folders, task, config, registry, host.observer(), stop);
  if (!session) return session.error();
  auto outcome = host.search(*session);
  if (!outcome) return outcome.error();
  if (outcome->reason == EndReason::stopped) return std::optional<Outcome>();
  return std::optional(std::move(*outcome));
}

TaskResult failed(const Error& error) {
  TaskResult result;
  result.error = error;
  return result;
}

}  // namespace kernelsmith::suite
