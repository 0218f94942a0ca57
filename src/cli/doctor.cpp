// kernelsmith doctor
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "commands.hpp"
#include "json_text.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

/// Prints the text in lines of kColumns, the first of them after `begin` and the others below it.
void print_row(const std::string& begin, const std::string& text) {
  std::string lines = wrapped(text, std::string(begin.size(), ' '));
  say("{}{}\n", begin, lines.substr(begin.size()));
}

void print_text(const MachineReport& machine) {
  for (const MachineCheck& check : machine.checks) {
    print_row(fmt::format("{:<8} {:<17} ", name_of(check.status), check.name), check.detail);
    if (!check.remedy.empty()) print_row(fmt::format("{:<8} {:<17} -> ", "", ""), check.remedy);
  }
  if (!machine.usable())
    return say("\ninstall or correct what is missing above before you search for a kernel\n");
  say("\nwhat can be searched here\n");
  for (const BackendReport& backend : machine.backends)
    say("  {:<8} {}\n", backend.name,
        backend.missing.empty() ? "yes" : fmt::format("no, see above: {}", fmt::join(backend.missing, ", ")));
  say("\ntier of the scores measured here: {}\n", machine.tier);
}

struct DoctorCommand {
  std::string task;
  JsonOption json;

  int operator()() const;
};

/// 0, or the exit status of the first problem; problems of the machine come before those of the task.
int status_of(const MachineReport& machine, const std::vector<MachineCheck>& task) {
  const auto lacks_gpu = [](const MachineCheck& check) {
    return check.name == kGpuCheck && check.status == CheckStatus::missing;
  };
  if (!machine.usable() || std::ranges::any_of(task, lacks_gpu)) return kBroken;
  const bool fit =
      std::ranges::all_of(task, [](const MachineCheck& check) { return check.status == CheckStatus::ok; });
  return fit ? kDone : kWrongUse;
}

int DoctorCommand::operator()() const {
  const Backends backends = default_registry().backends;
  std::optional<TaskFolder> folder;
  if (!task.empty()) {
    auto loaded = load_task_folder(task, backends);
    if (!loaded) return report(loaded.error(), json);
    folder = std::move(*loaded);
  }
  MachineReport machine = examine_machine(".", backends);
  std::vector<MachineCheck> of_task;
  if (folder && machine.usable()) of_task = examine_task(folder->task, backends);
  const int status = status_of(machine, of_task);
  for (const MachineCheck& check : of_task) machine.checks.push_back(check);
  if (json)
    std::fputs(json_of(machine, json).c_str(), stdout);
  else
    print_text(machine);
  return status;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  const auto [doctor, command] = add_command<DoctorCommand>(
      app, chosen, "doctor", "Try each tool once, and report what this machine has and lacks",
      "Exit status: 0 if kernels can be searched for, 3 if something required is missing, 2 if the "
      "task is not usable.");
  command.add_option(
      "TASK", doctor.task,
      "A task's folder, to check that the task passes its own check, and what a candidate could "
      "leave out unnoticed");
  doctor.json.add_to(command);
}

}  // namespace kernelsmith::cli
