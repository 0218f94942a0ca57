#include "python_program.hpp"

#include <utility>

#include <kernelsmith/evaluator/python_process/interpreter.hpp>

namespace kernelsmith::torch {
namespace {

constexpr const char* kPackage = "kernelsmith_torch";
/// Plans are metadata, and fake tensors have no data, so this limit is for the mappings of PyTorch's CUDA
/// libraries.
constexpr std::uint64_t kPlannerMemory = 48ULL << 30;
constexpr std::uint64_t kPlannerFiles = 1ULL << 30;  // Triton's cache of compiled kernels

std::vector<std::string> command(const Python& python, const std::string& module,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {python.program.string(), "-m", std::string(kPackage) + "." + module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

void lift_limits(SandboxLimits& limits) {
  limits.wall_s = 0;
  limits.memory_bytes = 0;
  limits.file_bytes = 0;
  limits.open_files = 0;
  limits.processes = 0;
  limits.output_bytes = 0;
}

}  // namespace

Result<Python> find_python(const std::filesystem::path& named) {
  auto interpreter =
      python_process::find_interpreter({.named = named,
                                        .variable = "KERNELSMITH_TORCH_PYTHON",
                                        .user = "the torch backend",
                                        .hint = "name one that has PyTorch and Triton: evaluator.python, or "
                                                "KERNELSMITH_TORCH_PYTHON"});
  if (!interpreter) return interpreter.error();
  auto package = python_process::find_package({.name = kPackage,
                                               .variable = "KERNELSMITH_TORCH_PYTHON_DIR",
                                               .data = "torch",
                                               .installed = KERNELSMITH_INSTALLED_TORCH_PYTHON,
                                               .source = KERNELSMITH_SOURCE_TORCH_PYTHON});
  if (!package) return package.error();
  auto shared = python_process::find_shared_package();
  if (!shared) return shared.error();
  Python python{std::move(interpreter->program), std::move(interpreter->folders), std::move(*package),
                std::move(*shared)};
  python.extensions = find_extension_places(python.package);
  python.judge = find_judge_library(python.package);
  return python;
}

SandboxSpec trusted_program(const Python& python, const std::string& module,
                            const std::vector<std::string>& arguments) {
  SandboxSpec spec;
  spec.argv = command(python, module, arguments);
  spec.environment = python_process::own_environment();
  spec.environment["KERNELSMITH_JUDGE_LIBRARY"] = python.judge.string();
  std::string& path = spec.environment["PYTHONPATH"];
  path = python_process::search_path({python.package, python.shared}) + (path.empty() ? "" : ":" + path);
  // `python -m` imports first from the current folder.
  spec.working_directory = python.package;
  spec.confinement = Confinement::unsandboxed;
  lift_limits(spec.limits);
  return spec;
}

SandboxSpec untrusted_program(const Python& python, const std::string& module, Confinement confinement) {
  SandboxSpec spec;
  spec.argv = command(python, module, {});
  std::vector<std::filesystem::path> all = {python.package, python.shared};
  all.insert(all.end(), python.folders.begin(), python.folders.end());
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                      {"HOME", "/tmp"},
                      {"USER", "nobody"},
                      {"LC_ALL", "C.UTF-8"},
                      {"PYTHONPATH", python_process::search_path(all)},  // including the user's own packages
                      {"PYTHONDONTWRITEBYTECODE", "1"},
                      {"PYTHONHASHSEED", "0"},  // makes plans reproducible
                      {"TRITON_CACHE_DIR", "/tmp/triton"},
                      {"CUDA_VISIBLE_DEVICES", ""},
                      {"OMP_NUM_THREADS", "1"}};
  const std::filesystem::path& library = python.extensions.library;
  if (!library.empty()) spec.environment["KERNELSMITH_EXTENSION_LIBRARY"] = library.string();
  if (confinement == Confinement::sandboxed) {
    if (!library.empty()) spec.read_only.push_back({library});
    // The sandbox has no /proc in which to find processes that a candidate left.
    spec.environment["KERNELSMITH_ALONE"] = "1";
    add_toolchain(spec);
    python_process::add_folders(spec, all);
  }
  spec.working_directory = python.package;
  spec.limits.wall_s = 0;  // each request has a limit of its own
  spec.limits.memory_bytes = kPlannerMemory;
  spec.limits.file_bytes = kPlannerFiles;
  spec.limits.tmp_bytes = kPlannerFiles;
  spec.limits.open_files = 1024;
  spec.limits.processes = 256;
  spec.limits.output_bytes = 0;  // no limit for a planner's whole life; only the tail is kept
  spec.profile = SandboxProfile::command;
  spec.confinement = confinement;
  return spec;
}

}  // namespace kernelsmith::torch
