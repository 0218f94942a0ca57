// The task and the configuration that a run folder holds.
#include <utility>

#include <kernelsmith/session/session.hpp>

#include "run_memory.hpp"

namespace kernelsmith {

Result<StoredRun> load_stored_run(const std::filesystem::path& folder, const Registry& registry) {
  // Refuses a pipe in place of the file, because reading a pipe would block.
  std::error_code ignored;
  if (const auto file = std::filesystem::status(folder / kConfigFile, ignored);
      std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    return fail(ErrorCode::bad_input, "this is not a regular file", (folder / kConfigFile).string());
  const auto yaml = read_text_file(folder / kConfigFile);
  if (!yaml) {
    if (yaml.error().code != ErrorCode::not_found) return yaml.error();
    const bool there = std::filesystem::exists(folder, ignored);
    return fail(ErrorCode::not_found,
                std::string("this is no run folder: it ") + (there ? "has no run.yaml" : "does not exist"),
                folder.string(), "name the folder that `kernelsmith run` made");
  }
  if (!std::filesystem::exists(folder / kTaskFolder, ignored))
    return fail(ErrorCode::not_found, "this run has no task folder: `kernelsmith run` did not make it",
                folder.string(),
                "`show` and `export` read it; a run of a program that links the library is resumed by "
                "that program");
  auto task = load_task_folder(folder / kTaskFolder, registry.backends);
  if (!task) return task.error();
  auto config = default_config(task->task, registry);
  if (!config) return config.error();
  const Status read = read_config(*yaml, (folder / kConfigFile).string(), registry, *config);
  if (!read) return read.error();
  config->proposer.provider->mark_untrusted();
  config->evaluator.provider->mark_untrusted();
  config->memory.is_stored = true;
  auto memory = stored_snapshot(folder, config->memory);
  if (!memory) return memory.error();
  take_snapshot(*memory, *config);
  return StoredRun{std::move(*task), std::move(*config), std::move(*memory)};
}

}  // namespace kernelsmith
