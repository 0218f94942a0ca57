#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <unistd.h>

#include <kernelsmith/evaluator/python_process/interpreter.hpp>
#include <kernelsmith/sandbox/locate.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>

namespace kernelsmith::python_process {
namespace {

namespace fs = std::filesystem;

constexpr double kQuickS = 30;  // Python starts in 20 ms; a cold disk takes longer
constexpr const char* kFoldersScript =
    "import sys; print(sys.executable, sys.prefix, sys.base_prefix, *filter(None, sys.path), sep='\\n')";

std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? value : "";
}

Result<fs::path> find_program(const InterpreterChoice& choice) {
  std::string name = choice.named.string();
  if (name.empty()) name = variable(choice.variable);
  if (name.empty()) name = "python3";
  const std::string wanted = name;
  std::error_code error;
  if (name.find('/') == name.npos) name = find_tool(name).value_or("");
  // The path is not made canonical, because Python finds a virtual environment through the link.
  const auto program = fs::absolute(name, error);
  if (!name.empty() && !error && ::access(program.c_str(), X_OK) == 0) return program;
  return fail(ErrorCode::tool_missing, "there is no Python to run " + choice.user + " with", wanted,
              choice.hint);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

Result<Interpreter> find_interpreter(const InterpreterChoice& choice) {
  const auto program = find_program(choice);
  if (!program) return program.error();
  SandboxSpec spec;
  spec.argv = {program->string(), "-c", kFoldersScript};
  spec.environment = own_environment();
  spec.working_directory = "/";
  spec.confinement = Confinement::unsandboxed;
  spec.limits = {.wall_s = kQuickS, .memory_bytes = 0, .file_bytes = 0, .open_files = 0};
  const auto ran = run_sandboxed(spec);
  if (const std::string fault = fault_of(ran); !fault.empty())
    return fail(ErrorCode::tool_missing, "Python does not run: " + fault, program->string(), choice.hint);
  Interpreter found;
  std::istringstream lines(ran->out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('/')) found.folders.emplace_back(line);
  if (found.folders.empty())
    return fail(ErrorCode::tool_missing, "Python does not say where it is", program->string(), choice.hint);
  found.program = found.folders.front();
  found.folders.erase(found.folders.begin());
  return found;
}

Result<fs::path> find_package(const PackagePlace& place) {
  std::vector<fs::path> folders;
  if (const std::string named = variable(place.variable); !named.empty()) {
    folders.emplace_back(named);
  } else {
    const auto data = fs::path("share/kernelsmith") / place.data;
    folders = {own_folder() / data, program_folder() / ".." / data, place.installed, place.source};
  }
  const auto holds_it = [&](const fs::path& found) {
    std::error_code error;
    return fs::is_directory(found / place.name, error);
  };
  return locate(folders, holds_it, "the Python package " + place.name + " of kernelsmith",
                "install kernelsmith, or set " + place.variable + " to the folder that holds " + place.name);
}

Result<fs::path> find_shared_package() {
  return find_package({.name = "kernelsmith_process",
                       .variable = "KERNELSMITH_PROCESS_PYTHON_DIR",
                       .data = "python",
                       .installed = KERNELSMITH_INSTALLED_PYTHON,
                       .source = KERNELSMITH_SOURCE_PYTHON});
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const auto at = text.find('='); at != text.npos) all[text.substr(0, at)] = text.substr(at + 1);
  }
  return all;
}

void add_folders(SandboxSpec& spec, const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    std::error_code error;
    const bool there = fs::exists(folder, error);
    const bool seen =
        std::ranges::any_of(spec.read_only, [&](const Bind& bind) { return lies_in(folder, bind.target); });
    if (there && !seen && folder != "/usr" && folder != "/") spec.read_only.push_back({folder});
  }
}

std::string search_path(const std::vector<fs::path>& folders) {
  std::string text;
  for (const auto& folder : folders) text += (text.empty() ? "" : ":") + folder.string();
  return text;
}

}  // namespace kernelsmith::python_process
