// kernelsmith init [DIR]
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "templates.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kDefaultTemplate = "cpu";

struct InitCommand {
  Backends backends;
  std::string folder = ".";
  std::string name = kDefaultTemplate;

  int operator()() const;
};

/// The backends that have a template, in the order of their names.
std::vector<std::string> template_names(const Backends& backends) {
  std::vector<std::string> names;
  for (const auto& [name, backend] : backends)
    if (std::ranges::find(template_files(), name, &TemplateFile::name) != template_files().end())
      names.push_back(name);
  return names;
}

std::string footer_of(const Backends& backends, const std::vector<std::string>& names) {
  std::string text = "Templates:";
  for (const std::string& name : names) text += fmt::format("\n  {:<8} {}", name, backends.at(name).summary);
  return text;
}

TaskFolder task_of(const std::string& name) {
  TaskFolder task;
  for (const TemplateFile& file : template_files())
    if (file.name == name) task.files.push_back({file.path, file.text});
  return task;
}

/// Nothing of the user's is overwritten.
Status check_free(const TaskFolder& task, const std::filesystem::path& folder) {
  std::error_code ignored;  // a folder that may not be searched is told by the writing
  for (const SourceFile& file : task.files)
    if (std::filesystem::exists(folder / file.path, ignored))
      return fail(ErrorCode::invalid_argument, "the file exists already and is left as it is",
                  (folder / file.path).string(), "name a folder that does not exist yet");
  return {};
}

/// What could be left out of the task unnoticed. Where this machine cannot try that, `doctor` says why.
void print_checks(const Task& task, const Backends& backends) {
  for (const MachineCheck& check : examine_precision(task, backends)) {
    say("{:<8} {}: {}\n", name_of(check.status), check.name, check.detail);
    if (!check.remedy.empty()) say("         -> {}\n", check.remedy);
  }
}

int InitCommand::operator()() const {
  const TaskFolder task = task_of(name);
  if (const Status free = check_free(task, folder); !free) return report(stderr, free.error());
  if (const Status written = write_task_folder(task, folder); !written)
    return report(stderr, written.error());
  say("made the task {}: {} files from the template {}\n", folder, task.files.size(), name);
  const auto made = load_task_folder(folder, backends);
  if (!made) return report(stderr, made.error());
  print_checks(made->task, backends);
  const auto seed = std::filesystem::path(folder) / made->task.seed.files().front().path;
  say("next     kernelsmith evaluate {} {}\n", shell_word(folder), shell_word(seed.string()));
  say("         kernelsmith run {} --time 60s\n", shell_word(folder));
  return kDone;
}

}  // namespace

void add_init(CLI::App& app, Command& chosen) {
  auto init = std::make_shared<InitCommand>();
  init->backends = default_registry().backends;
  const std::vector<std::string> names = template_names(init->backends);
  CLI::App* command = app.add_subcommand("init", "Make a task that works as it is, to be made your own");
  command->add_option("DIR", init->folder,
                      "The folder to write into, made where it is absent (default: here)");
  command
      ->add_option("--template", init->name,
                   fmt::format("{} (default: {})", fmt::join(names, " or "), kDefaultTemplate))
      ->check(CLI::IsMember(names))
      ->type_name("NAME");
  command->footer(footer_of(init->backends, names));
  command->callback([init, &chosen] { chosen = [init] { return (*init)(); }; });
}

}  // namespace kernelsmith::cli
