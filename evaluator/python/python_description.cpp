// The description of the backend `python`.
#include <vector>

#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/task_templates.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

#include "evaluator_process.hpp"
#include "evaluator_program.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kTrial = "def evaluate(program_path): return 1\n";

/// The version of the Python that evaluated a trial. Errors: the reason why evaluators cannot run.
Result<std::string> try_program(bool sandboxed) {
  const auto program = python_process::find_program({});
  if (!program) return program.error();
  const auto folder = ScratchFolder::create();
  if (!folder) return folder.error();
  if (const Status written = folder->write("evaluator.py", kTrial); !written) return written.error();
  PythonSettings task;
  task.evaluator = (folder->path() / "evaluator.py").string();
  const auto confinement = sandboxed ? Confinement::sandboxed : Confinement::unsandboxed;
  const auto process = python_process::EvaluatorProcess::start(
      python_process::program_spec(*program, task, PythonOptions{}.processes, confinement), task, {});
  if (!process) return process.error();
  return program->interpreter.program.string() + ", Python " + (*process)->version();
}

/// Not required: only this backend needs Python.
MachineCheck check_program(bool sandboxed) {
  const auto tried = try_program(sandboxed);
  if (tried) return {"python", CheckStatus::ok, *tried + ", for python tasks", "", false};
  MachineCheck check = failed_check("python", tried.error(), kCheckTemporaries);
  check.status = CheckStatus::limited;
  check.required = false;
  return check;
}

std::vector<MachineCheck> check_task(const Task& task) {
  const auto made = make_python_evaluator(task);
  if (!made) return {failed_check("task", made.error())};
  return {{"task", CheckStatus::ok, "the evaluator is imported, and has evaluate()", "", true}};
}

}  // namespace

BackendDescription describe_python_backend() {
  BackendDescription description;
  description.name = "python";
  description.summary = "a Python function that scores a program, as OpenEvolve calls it";
  description.template_files = python_process::task_template();
  description.form = TaskForm::evaluator;
  description.settings = python_task_settings();
  description.examine_machine = [](bool sandboxed) { return std::vector{check_program(sandboxed)}; };
  description.examine_task = check_task;
  return description;
}

}  // namespace kernelsmith
