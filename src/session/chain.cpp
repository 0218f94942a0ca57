#include <algorithm>

#include <kernelsmith/config/yaml_edit.hpp>
#include <kernelsmith/session/chain.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kTaskFile = "task.yaml";
constexpr std::size_t kDigits = 8;  ///< digits of the digest in the file's name

/// The confirmed best program of another run, if that run has the same backend and reference.
Result<SourceFile> confirmed_best(const Task& task, const std::filesystem::path& run,
                                  const Registry& registry) {
  const auto refuse = [&run](const std::string& message, const std::string& hint) {
    return fail(ErrorCode::bad_input, message, run.string(), hint);
  };
  const auto view = view_run(run, registry);
  if (!view) return view.error();
  if (!view->has_task || view->task.backend != task.backend || !(view->task.reference == task.reference))
    return refuse("the run searched another task: its backend or reference differs",
                  "give a run over the same reference; seed, baseline and budgets may differ");
  const IndividualPtr best = view->state.best();
  if (!best)
    return refuse("the run has no best: nothing was accepted", "search on: " + goes_on(view->config, run));
  if (view->state.confirmation_of_best() == nullptr)
    return refuse("the best was not confirmed: it was not measured again on fresh inputs",
                  goes_on(view->config, run, true) +
                      "    measures it again, unless limits.confirm is false in run.yaml");
  const Source& source = best->program->source;
  if (source.files().size() != 1)
    return refuse("the best program has several files, but a chained baseline is one file",
                  "name them in task.yaml: files: {baseline: [...]}");
  const std::filesystem::path path = source.files().front().path;
  return SourceFile{"baseline_" + source.digest().hex().substr(0, kDigits) + path.extension().string(),
                    source.files().front().text};
}

Result<std::string> naming(const std::string& yaml, const std::string& file, TaskForm form) {
  if (form != TaskForm::module) return yaml_with(yaml, {"files", "baseline"}, file);
  const auto named = yaml_with_item(yaml, {"files", "also"}, file);
  return named ? yaml_with(*named, {"torch", "baseline", "module"}, file) : named;
}

}  // namespace

Result<TaskFolder> with_baseline_from(const TaskFolder& task, const std::filesystem::path& run,
                                      const Registry& registry) {
  const TaskForm form = registry.backends.at(task.task.backend).form;
  if (form != TaskForm::module && form != TaskForm::kernel)
    return fail(ErrorCode::bad_input, "the task's own program scores it, so it has no baseline",
                task.task.name);
  auto baseline = confirmed_best(task.task, run, registry);
  if (!baseline) return baseline.error();
  std::vector<SourceFile> files = task.files;
  const auto about = std::ranges::find(files, kTaskFile, &SourceFile::path);
  if (about == files.end()) return fail(ErrorCode::internal, "the task has no task.yaml", task.task.name);
  auto yaml = naming(about->text, baseline->path, form);
  if (!yaml) return yaml.error();
  about->text = std::move(*yaml);
  std::erase_if(files, [&](const SourceFile& file) { return file.path == baseline->path; });
  files.push_back(std::move(*baseline));
  return task_of_files(std::move(files), kTaskFile, registry.backends);
}

}  // namespace kernelsmith
