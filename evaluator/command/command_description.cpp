// The description of the backend `command`.
#include <vector>

#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/task_templates.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith {
namespace {

/// Not every command is written in Python, so Python is not required.
MachineCheck check_python(bool sandboxed) {
  const std::string python = "/usr/bin/python3";
  const auto scratch = ScratchFolder::create();
  if (!scratch) {
    MachineCheck check = failed_check("python", scratch.error(), kCheckTemporaries);
    check.status = CheckStatus::limited;
    check.required = false;
    return check;
  }
  const std::string fault = fault_of(try_tool({python, "-c", "import json"}, scratch->path(), sandboxed));
  if (fault.empty())
    return {"python", CheckStatus::ok, python + ", for command tasks written in Python", "", false};
  return {"python", CheckStatus::limited, fault, "apt-get install python3 (only some command tasks use it)",
          false};
}

}  // namespace

BackendDescription describe_command_backend() {
  BackendDescription description;
  description.name = "command";
  description.summary = "any program that scores a candidate with numbers";
  description.template_files = command::task_template();
  description.examine_machine = [](bool sandboxed) { return std::vector{check_python(sandboxed)}; };
  return description;
}

}  // namespace kernelsmith
