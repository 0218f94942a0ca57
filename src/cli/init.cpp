// kernelsmith init [DIR]
#include <filesystem>

#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "templates.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr const char* kFooter = R"(Templates:
  cpu      a C++ kernel, compiled, checked and timed: the transpose of a matrix
  command  any program that scores a candidate: the highest point of a landscape, scored by a Python script)";

struct InitCommand {
  std::string folder = ".";
  std::string name = "cpu";

  int operator()() const;
};

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

/// A task is made with its error budget tried. Where this machine cannot do that, `doctor` says why.
void print_checks(const std::string& folder) {
  const auto made = load_task_folder(folder);
  if (!made) return;
  for (const MachineCheck& check : examine_precision(made->task)) {
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
  const std::filesystem::path seed = std::filesystem::path(folder) / (name == "cpu" ? "seed.cpp" : "seed.py");
  print_checks(folder);
  say("next     kernelsmith evaluate {} {}\n", shell_word(folder), shell_word(seed.string()));
  say("         kernelsmith run {} --time 60s\n", shell_word(folder));
  return kDone;
}

}  // namespace

void add_init(CLI::App& app, Command& chosen) {
  auto init = std::make_shared<InitCommand>();
  CLI::App* command = app.add_subcommand("init", "Make a task that works as it is, to be made your own");
  command->add_option("DIR", init->folder,
                      "The folder to write into, made where it is absent (default: here)");
  command->add_option("--template", init->name, "cpu or command (default: cpu)")
      ->check(CLI::IsMember({"cpu", "command"}))
      ->type_name("NAME");
  command->footer(kFooter);
  command->callback([init, &chosen] { chosen = [init] { return (*init)(); }; });
}

}  // namespace kernelsmith::cli
