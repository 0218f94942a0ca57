#include "python_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <dlfcn.h>
#include <unistd.h>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith::torch {
namespace {

constexpr const char* kPackage = "kernelsmith_torch";
constexpr double kQuickS = 30;  // Python without PyTorch starts in 20 ms; a cold disk takes longer
constexpr const char* kFoldersScript =
    "import sys; print(sys.executable, sys.prefix, sys.base_prefix, *filter(None, sys.path), sep='\\n')";

/// A plan is metadata, and fake tensors have no data: this is what PyTorch's CUDA libraries map.
constexpr std::uint64_t kPlannerMemory = 48ULL << 30;
constexpr std::uint64_t kPlannerFiles = 1ULL << 30;  // what Triton keeps of kernels that it compiled

/// Of the program or shared library that this code is in: for the Python module, its package.
std::filesystem::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&find_python), &found) == 0 || !found.dli_fname) return {};
  return std::filesystem::path(found.dli_fname).parent_path();
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

Result<std::filesystem::path> find_program(const std::filesystem::path& named) {
  std::string name = named.string();
  if (name.empty()) name = variable("KERNELSMITH_TORCH_PYTHON");
  if (name.empty()) name = "python3";
  const std::string wanted = name;
  std::error_code error;
  if (name.find('/') == name.npos) {
    const auto found = find_tool(name);
    name = found.value_or("");
  }
  // Not canonical: the link in a virtual environment is what tells Python of it.
  const auto program = std::filesystem::absolute(name, error);
  if (!name.empty() && !error && ::access(program.c_str(), X_OK) == 0) return program;
  return fail(ErrorCode::tool_missing, "there is no Python to run the torch backend with", wanted,
              "name one that has PyTorch and Triton: evaluator.python, or KERNELSMITH_TORCH_PYTHON");
}

Result<std::filesystem::path> find_package() {
  std::vector<std::filesystem::path> places;
  if (const std::string named = variable("KERNELSMITH_TORCH_PYTHON_DIR"); !named.empty()) {
    places.emplace_back(named);
  } else {
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    places = {own_folder() / "share/kernelsmith/torch", beside / "../share/kernelsmith/torch",
              KERNELSMITH_INSTALLED_TORCH_PYTHON, KERNELSMITH_SOURCE_TORCH_PYTHON};
  }
  std::string looked;
  for (const auto& place : places) {
    std::error_code error;
    const auto found = std::filesystem::canonical(place, error);
    if (!error && std::filesystem::is_directory(found / kPackage, error)) return found;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  return fail(ErrorCode::tool_missing, "the Python files of the torch backend are not found", looked,
              "install kernelsmith, or set KERNELSMITH_TORCH_PYTHON_DIR to the folder that holds "
              "kernelsmith_torch");
}

std::vector<std::string> command(const Python& python, const std::string& module,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {python.program.string(), "-m", std::string(kPackage) + "." + module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const auto at = text.find('='); at != text.npos) all[text.substr(0, at)] = text.substr(at + 1);
  }
  return all;
}

void lift_limits(SandboxLimits& limits) {
  limits.wall_s = 0;
  limits.memory_bytes = 0;
  limits.file_bytes = 0;
  limits.open_files = 0;
  limits.processes = 0;
  limits.output_bytes = 0;
}

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// Binds what the toolchain's folders do not hold already. The whole of /usr is more than Python needs.
void add_folders(SandboxSpec& spec, const std::vector<std::filesystem::path>& folders) {
  for (const auto& folder : folders) {
    std::error_code error;
    const bool there = std::filesystem::exists(folder, error);
    const bool seen =
        std::ranges::any_of(spec.read_only, [&](const Bind& bind) { return lies_in(folder, bind.target); });
    if (there && !seen && folder != "/usr" && folder != "/") spec.read_only.push_back({folder});
  }
}

std::string joined(const std::vector<std::filesystem::path>& folders) {
  std::string text;
  for (const auto& folder : folders) text += (text.empty() ? "" : ":") + folder.string();
  return text;
}

}  // namespace

Result<Python> find_python(const std::filesystem::path& named) {
  auto program = find_program(named);
  if (!program) return program.error();
  auto package = find_package();
  if (!package) return package.error();
  Python python{std::move(*program), {}, std::move(*package)};
  SandboxSpec spec = trusted_program(python, "");
  spec.argv = {python.program.string(), "-c", kFoldersScript};
  spec.limits.wall_s = kQuickS;
  const auto ran = run_sandboxed(spec);
  if (const std::string fault = fault_of(ran); !fault.empty())
    return fail(ErrorCode::tool_missing, "Python does not run: " + fault, python.program.string(),
                "name another one: evaluator.python, or KERNELSMITH_TORCH_PYTHON");
  std::istringstream lines(ran->out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('/')) python.folders.emplace_back(line);
  if (python.folders.empty())
    return fail(ErrorCode::tool_missing, "Python does not say where it is", python.program.string());
  python.program = python.folders.front();
  python.folders.erase(python.folders.begin());
  return python;
}

SandboxSpec trusted_program(const Python& python, const std::string& module,
                            const std::vector<std::string>& arguments) {
  SandboxSpec spec;
  spec.argv = command(python, module, arguments);
  spec.environment = own_environment();
  std::string& path = spec.environment["PYTHONPATH"];
  path = python.package.string() + (path.empty() ? "" : ":" + path);
  // `python -m` imports from the folder that it stands in before any other.
  spec.working_directory = python.package;
  spec.confinement = Confinement::unsandboxed;
  lift_limits(spec.limits);
  return spec;
}

SandboxSpec untrusted_program(const Python& python, const std::string& module, Confinement confinement) {
  SandboxSpec spec;
  spec.argv = command(python, module, {});
  std::vector<std::filesystem::path> all = {python.package};
  all.insert(all.end(), python.folders.begin(), python.folders.end());
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                      {"HOME", "/tmp"},
                      {"USER", "nobody"},
                      {"LC_ALL", "C.UTF-8"},
                      {"PYTHONPATH", joined(all)},  // packages of the user's own, too
                      {"PYTHONDONTWRITEBYTECODE", "1"},
                      {"PYTHONHASHSEED", "0"},  // the same source gives the same plan
                      {"TRITON_CACHE_DIR", "/tmp/triton"},
                      {"CUDA_VISIBLE_DEVICES", ""},
                      {"OMP_NUM_THREADS", "1"}};
  if (confinement == Confinement::sandboxed) {
    spec.environment["KERNELSMITH_ALONE"] = "1";  // it has no /proc to find by what a candidate left behind
    add_toolchain(spec);
    add_folders(spec, all);
  }
  spec.working_directory = python.package;
  spec.limits.wall_s = 0;  // each request has a limit of its own
  spec.limits.memory_bytes = kPlannerMemory;
  spec.limits.file_bytes = kPlannerFiles;
  spec.limits.tmp_bytes = kPlannerFiles;
  spec.limits.open_files = 1024;
  spec.limits.processes = 256;
  spec.limits.output_bytes = 0;  // of a planner's whole life; the tail is what is kept
  spec.profile = SandboxProfile::toolchain;
  spec.confinement = confinement;
  return spec;
}

}  // namespace kernelsmith::torch
