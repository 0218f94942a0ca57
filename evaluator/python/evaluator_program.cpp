#include "evaluator_program.hpp"

#include <utility>
#include <vector>

#include <unistd.h>

namespace kernelsmith::python_process {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "kernelsmith_worker";

/// The worker's own memory, in addition to that of the evaluation. The group's limit is higher than a
/// process's, so that Python reports which process ran out of memory before the system kills one.
constexpr std::uint64_t kOwnMemory = 512ULL << 20;
constexpr unsigned kOwnProcesses = 2;  // the shell, which becomes Python, and Python
constexpr std::uint64_t kScratch = 1ULL << 30;
constexpr std::uint64_t kOpenFiles = 1024;

void lift_limits(SandboxLimits& limits) {
  limits.file_bytes = 0;
  limits.open_files = 0;
}

/// The environment is short, so that untrusted code does not see keys and tokens.
void confine(SandboxSpec& spec, const EvaluatorProgram& program, const fs::path& folder) {
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                      {"HOME", "/tmp"},
                      {"USER", "nobody"},
                      {"LC_ALL", "C.UTF-8"},
                      {"PYTHONPATH", search_path(program.interpreter.folders)},  // the user's own packages
                      {"OMP_NUM_THREADS", "1"},  // there is one evaluation for each core
                      // The sandbox has no /proc in which to find processes that a candidate left.
                      {"KERNELSMITH_ALONE", "1"}};
  add_toolchain(spec);
  std::vector<fs::path> folders = {program.package, program.shared, folder};
  folders.insert(folders.end(), program.interpreter.folders.begin(), program.interpreter.folders.end());
  add_folders(spec, folders);
  spec.working_directory = folder;
  spec.limits.tmp_bytes = kScratch;
  spec.limits.shm_bytes = kScratch;
  spec.limits.file_bytes = kScratch;
  spec.limits.open_files = kOpenFiles;
}

}  // namespace

Result<EvaluatorProgram> find_program(const std::string& named) {
  auto interpreter = find_interpreter({.named = named,
                                       .variable = "KERNELSMITH_PYTHON",
                                       .user = "the evaluator",
                                       .hint = "name one in task.yaml (python: /path/to/python3), or in "
                                               "KERNELSMITH_PYTHON"});
  if (!interpreter) return interpreter.error();
  auto package = find_package({.name = kPackage,
                               .variable = "KERNELSMITH_WORKER_PYTHON_DIR",
                               .data = "python",
                               .installed = KERNELSMITH_INSTALLED_WORKER,
                               .source = KERNELSMITH_SOURCE_WORKER});
  if (!package) return package.error();
  auto shared = find_shared_package();
  if (!shared) return shared.error();
  return EvaluatorProgram{std::move(*interpreter), std::move(*package), std::move(*shared)};
}

SandboxSpec program_spec(const EvaluatorProgram& program, const PythonSettings& task, unsigned processes,
                         Confinement confinement) {
  SandboxSpec spec;
  spec.argv = {program.interpreter.program.string(), (program.package / kPackage).string(),
               program.shared.string()};
  spec.confinement = confinement;
  spec.profile = SandboxProfile::command;
  spec.limits.wall_s = 0;        // each evaluation has a limit of its own
  spec.limits.output_bytes = 0;  // for the whole life of the process; only the tail is kept
  spec.limits.memory_bytes = memory_bytes(task) + kOwnMemory;
  spec.limits.limit_address_space = false;
  spec.limits.processes = processes + kOwnProcesses;
  if (confinement == Confinement::sandboxed) {
    confine(spec, program, fs::path(task.evaluator).parent_path());
  } else {
    std::error_code error;
    spec.environment = own_environment();
    spec.working_directory = fs::current_path(error);
    lift_limits(spec.limits);
  }
  return spec;
}

Status check_readable(const PythonSettings& task) {
  if (::geteuid() != 0) return {};
  const fs::path file = task.evaluator;
  const auto closed = [](const fs::path& path, fs::perms needed) {
    std::error_code error;
    return (fs::status(path, error).permissions() & needed) != needed;
  };
  const fs::perms search = fs::perms::others_read | fs::perms::others_exec;
  if (!closed(file.parent_path(), search) && !closed(file, fs::perms::others_read)) return {};
  return fail(ErrorCode::permission, "the evaluator's folder is closed to the sandbox's user, nobody",
              file.string(), "chmod -R o+rX " + file.parent_path().string());
}

std::uint64_t memory_bytes(const PythonSettings& task) {
  return static_cast<std::uint64_t>(task.memory_mb) << 20;
}

}  // namespace kernelsmith::python_process
