// kernelsmith doctor
#include <fmt/format.h>

#include <kernelsmith/session/doctor.hpp>

#include "commands.hpp"
#include "json_text.hpp"

namespace kernelsmith::cli {
namespace {

void print_text(const MachineReport& machine) {
  for (const MachineCheck& check : machine.checks) {
    fmt::print("{:<8} {:<13} {}\n", name_of(check.status), check.name, check.detail);
    if (!check.remedy.empty()) fmt::print("{:<8} {:<13} -> {}\n", "", "", check.remedy);
  }
  fmt::print("\ntier of the scores measured here: {}\n", machine.tier);
  fmt::print("{}\n", machine.usable()
                         ? "kernelsmith can search for kernels on this machine"
                         : "what is missing above must be there before a kernel can be searched for");
}

int doctor(bool json) {
  const MachineReport machine = examine_machine(".");
  if (json)
    fmt::print("{}", json_of(machine));
  else
    print_text(machine);
  return machine.usable() ? kDone : kBroken;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Try each tool once: what this machine has and lacks");
  command->add_flag("--json", *json, "Print one JSON object");
  command->footer("Exit status: 0 where kernels can be searched for, 3 where something required is missing.");
  command->callback([json, &chosen] { chosen = [json] { return doctor(*json); }; });
}

}  // namespace kernelsmith::cli
