// kernelsmith init [DIR]
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "run_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kDefaultTemplate = "cpu";

struct InitCommand {
  Backends backends;
  std::string folder;
  std::string name = kDefaultTemplate;
  std::string problem;                  ///< a KernelBench file, instead of a template
  std::vector<std::string> flashinfer;  ///< a data set and a definition, instead of a template
  std::string sol;                      ///< a folder of SOL-ExecBench, instead of a template
  std::string gpu_mode;                 ///< a problem's folder of GPU MODE, instead of a template
  WorkloadChoice choice;

  bool is_of_template() const {
    return problem.empty() && flashinfer.empty() && sol.empty() && gpu_mode.empty();
  }
  int operator()() const;
};

/// The files to write, and what is said about them.
struct Made {
  std::vector<SourceFile> files;
  std::string name;  ///< of the folder if none is given; empty for a template
  std::string from, chosen;
  std::vector<std::string> notes;
};

/// The backends that have a template, in the order of their names.
std::vector<std::string> template_names(const Backends& backends) {
  std::vector<std::string> names;
  for (const auto& [name, backend] : backends)
    if (!backend.template_files.empty()) names.push_back(name);
  return names;
}

std::string footer_of(const Backends& backends, const std::vector<std::string>& names) {
  std::string text = "Templates:";
  for (const std::string& name : names) text += fmt::format("\n  {:<8} {}", name, backends.at(name).summary);
  return text;
}

/// Refuses a folder with files, because a task needs its own folder. Hidden files, such as git's, are
/// allowed.
Status check_empty(const std::filesystem::path& here, const std::string& typed) {
  std::error_code ignored;  // writing fails if the folder may not be read
  for (const auto& entry : std::filesystem::directory_iterator(here, ignored))
    if (!entry.path().filename().string().starts_with('.'))
      return fail(ErrorCode::invalid_argument, "no folder is named, and the current folder is not empty",
                  "kernelsmith init",
                  typed + " my_task makes one; " + typed + " . writes beside the files that are here");
  return {};
}

/// Fails if a file of the task exists already, so that no file of the user is overwritten.
Status check_free(const TaskFolder& task, const std::filesystem::path& folder) {
  std::error_code ignored;  // writing fails if the folder may not be searched
  for (const SourceFile& file : task.files)
    if (std::filesystem::exists(folder / file.path, ignored))
      return fail(ErrorCode::invalid_argument, "the file exists already and is left as it is",
                  (folder / file.path).string(), "name a folder that does not exist yet");
  return {};
}

/// Prints what a candidate could leave out unnoticed, or why this machine cannot check it. Returns false if a
/// part that the task needs is missing.
bool print_checks(const Task& task, const Backends& backends) {
  bool has_all = true;
  for (const MachineCheck& check : examine_precision(task, backends)) {
    say("{:<8} {}: {}\n", name_of(check.status), check.name, check.detail);
    if (!check.remedy.empty()) say("         -> {}\n", check.remedy);
    has_all = has_all && check.status != CheckStatus::missing;
  }
  return has_all;
}

/// Prints the next commands. For a task without a seed they name a model, which writes the first program.
void print_next(const Task& task, const std::string& folder, bool has_all) {
  if (!has_all) {
    say("next     install what is missing\n");
    say("         kernelsmith doctor {}\n", shell_word(folder));
    return;
  }
  if (task.seed.empty()) {
    say("next     kernelsmith doctor {}\n", shell_word(folder));
    say("         kernelsmith run {} --model NAME\n", shell_word(folder));
    return;
  }
  const auto seed = std::filesystem::path(folder) / task.seed.files().front().path;
  say("next     kernelsmith evaluate {} {}\n", shell_word(folder), shell_word(seed.string()));
  say("         kernelsmith run {} --time 60s\n", shell_word(folder));
}

Made made_of(ArenaTask task, std::string from) {
  return {std::move(task.files), std::move(task.name), std::move(from), std::move(task.chosen),
          std::move(task.notes)};
}

Result<Made> make(const InitCommand& given) {
  const WorkloadChoice all;
  if ((!given.choice.uuids.empty() || given.choice.most != all.most) && given.flashinfer.empty() &&
      given.sol.empty())
    return fail(ErrorCode::invalid_argument, "only a definition has workloads to choose from",
                given.choice.uuids.empty() ? "--workloads" : "--workload",
                "add --flashinfer-bench or --sol-execbench");
  if (!given.flashinfer.empty()) {
    auto task = task_of_flashinfer_bench(given.flashinfer[0], given.flashinfer[1], given.choice);
    if (!task) return task.error();
    return made_of(std::move(*task), given.flashinfer[1] + " in " + given.flashinfer[0]);
  }
  if (!given.sol.empty()) {
    auto task = task_of_sol_execbench(given.sol, given.choice);
    if (!task) return task.error();
    return made_of(std::move(*task), given.sol);
  }
  if (!given.gpu_mode.empty()) {
    auto task = task_of_gpu_mode(given.gpu_mode);
    if (!task) return task.error();
    return made_of(std::move(*task), given.gpu_mode);
  }
  if (given.problem.empty())
    return Made{given.backends.at(given.name).template_files, "", "the template " + given.name, "", {}};
  auto files = files_of_problem(given.problem);
  if (!files) return files.error();
  return Made{std::move(*files), problem_name(given.problem), given.problem, "", {}};
}

int InitCommand::operator()() const {
  auto making = make(*this);
  if (!making) return report(stderr, making.error());
  const TaskFolder task{{}, std::move(making->files)};
  std::string into = folder;
  if (into.empty() && is_of_template()) {
    const std::string typed = "kernelsmith init" + (name == kDefaultTemplate ? "" : " --backend " + name);
    if (const Status empty = check_empty(".", typed); !empty) return report(stderr, empty.error());
  }
  if (into.empty()) into = is_of_template() ? "." : making->name;
  if (const Status free = check_free(task, into); !free) return report(stderr, free.error());
  if (const Status written = write_task_folder(task, into); !written) return report(stderr, written.error());
  say("made the task {}: {} files from {}\n", into, task.files.size(), making->from);
  if (!making->chosen.empty()) say("workloads {}\n", making->chosen);
  for (const std::string& one : making->notes) say("note     {}\n", one);
  const auto made = load_task_folder(into, backends);
  if (!made) return report(stderr, made.error());
  const bool has_all = print_checks(made->task, backends);
  print_next(made->task, into, has_all);
  return kDone;
}

}  // namespace

void add_init(CLI::App& app, Command& chosen) {
  const auto [init, command] =
      add_command<InitCommand>(app, chosen, "init", "Make a task that works as it is and that you can adapt");
  init.backends = default_registry().backends;
  const std::vector<std::string> names = template_names(init.backends);
  command.add_option("DIR,--out", init.folder,
                     "The folder to write into, made if it is absent (default: the current folder if "
                     "that is empty; for a problem, its name)");
  CLI::Option* const problem = add_value(command, "--kernelbench", init.problem,
                                         "A KernelBench problem that becomes a `torch` task", "FILE");
  CLI::Option* const flashinfer =
      command
          .add_option("--flashinfer-bench", init.flashinfer,
                      "A definition in a data set of FlashInfer-Bench that becomes a `torch` task "
                      "(docs/arenas.md)")
          ->type_size(2)
          ->expected(1)
          ->allow_extra_args(false)
          ->check(no_option("DATASET DEFINITION"))
          ->type_name("DATASET DEFINITION")
          ->excludes(problem);
  CLI::Option* const sol =
      add_value(command, "--sol-execbench", init.sol,
                "A problem's folder of SOL-ExecBench that becomes a `torch` task", "FOLDER")
          ->excludes(problem)
          ->excludes(flashinfer);
  CLI::Option* const gpu_mode =
      add_value(command, "--gpu-mode", init.gpu_mode,
                "A problem's folder of GPU MODE's reference-kernels that becomes a `torch` task", "FOLDER")
          ->excludes(problem)
          ->excludes(flashinfer)
          ->excludes(sol);
  add_value(command, "--workload", init.choice.uuids,
            "A workload of the first two arenas: its UUID or the beginning; may be repeated (default: all)",
            "UUID");
  command
      .add_option("--workloads", init.choice.most,
                  fmt::format("At most so many workloads, spread over their sizes ({})", init.choice.most))
      ->check(CLI::Range(std::size_t{1}, init.choice.most))
      ->type_name("N");
  CLI::Option* const by_template =
      command
          .add_option("--template", init.name,
                      fmt::format("{} (default: {})", fmt::join(names, " or "), kDefaultTemplate))
          ->check(CLI::IsMember(names))
          ->type_name("NAME")
          ->excludes(problem)
          ->excludes(flashinfer)
          ->excludes(sol)
          ->excludes(gpu_mode);
  command
      .add_option("--backend", init.name, "The same")  // separate, so that errors name what was typed
      ->check(CLI::IsMember(names))
      ->type_name("NAME")
      ->excludes(problem)
      ->excludes(flashinfer)
      ->excludes(sol)
      ->excludes(gpu_mode)
      ->excludes(by_template);
  command.footer(footer_of(init.backends, names));
}

}  // namespace kernelsmith::cli
