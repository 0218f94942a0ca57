// Runs the searches of a suite one after another, each with its own budget.
#include <optional>

#include <kernelsmith/suite/suite.hpp>

#include "adaptive.hpp"
#include "outage.hpp"
#include "result_folder.hpp"
#include "task_search.hpp"

namespace kernelsmith {
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
    // An interruption by a stop request is not the task's fault.
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
