// kernelsmith init [DIR]
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/core/escape.hpp>
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
  std::string problem;  ///< a KernelBench file, instead of a template

  int operator()() const;
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

int InitCommand::operator()() const {
  auto files = problem.empty() ? Result<std::vector<SourceFile>>(backends.at(name).template_files)
                               : files_of_problem(problem);
  if (!files) return report(stderr, files.error());
  const TaskFolder task{{}, std::move(*files)};
  std::string into = folder;
  if (into.empty() && problem.empty()) {
    const std::string typed = "kernelsmith init" + (name == kDefaultTemplate ? "" : " --backend " + name);
    if (const Status empty = check_empty(".", typed); !empty) return report(stderr, empty.error());
  }
  if (into.empty()) into = problem.empty() ? "." : problem_name(problem);
  if (const Status free = check_free(task, into); !free) return report(stderr, free.error());
  if (const Status written = write_task_folder(task, into); !written) return report(stderr, written.error());
  say("made the task {}: {} files from {}\n", into, task.files.size(),
      problem.empty() ? "the template " + name : problem);
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
  CLI::Option* const by_template =
      command
          .add_option("--template", init.name,
                      fmt::format("{} (default: {})", fmt::join(names, " or "), kDefaultTemplate))
          ->check(CLI::IsMember(names))
          ->type_name("NAME")
          ->excludes(problem);
  command
      .add_option("--backend", init.name, "The same")  // separate, so that errors name what was typed
      ->check(CLI::IsMember(names))
      ->type_name("NAME")
      ->excludes(problem)
      ->excludes(by_template);
  command.footer(footer_of(init.backends, names));
}

}  // namespace kernelsmith::cli
