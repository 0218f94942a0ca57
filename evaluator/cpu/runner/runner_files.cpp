#include "runner/runner_files.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

namespace kernelsmith::cpu {
namespace {

constexpr const char* kProgramTraced = "/kernelsmith-runner";
constexpr const char* kObjectTraced = "/linked.so";
constexpr const char* kLoaderCache = "/etc/ld.so.cache";
/// Linkers add these only if an object uses them.
constexpr const char* kTakenByNeed[] = {"libmvec.so.1", "libatomic.so.1"};

/// The loader's list of the files that it would load, one a line: "NAME => PATH (ADDRESS)", or "PATH
/// (ADDRESS)" for the loader itself and for libraries named by a path.
Result<std::string> trace(const std::filesystem::path& program, const std::filesystem::path& linked) {
  SandboxSpec spec;
  // The variables are not in the sandbox's environment, because bubblewrap would get them, too.
  spec.argv = {"/usr/bin/env", "LD_TRACE_LOADED_OBJECTS=1", std::string("LD_PRELOAD=") + kObjectTraced,
               kProgramTraced};
  add_toolchain(spec);
  spec.read_only.push_back({program, kProgramTraced});
  spec.read_only.push_back({linked, kObjectTraced});
  auto result = run_sandboxed(spec);
  if (!result) return result.error();
  if (!result->succeeded())
    return fail(ErrorCode::tool_failed,
                "the loader does not say which libraries candidates need: " + describe(*result), {},
                escape_controls(result->err));
  return std::move(result->out);
}

void add_if_new(std::vector<std::filesystem::path>& files, std::filesystem::path file) {
  if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
}

std::vector<std::filesystem::path> files_in(const std::string& traced) {
  std::vector<std::filesystem::path> found;
  std::istringstream lines(traced);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    words >> name >> arrow >> path;
    if (arrow == "=>") name = path;
    if (name.starts_with("/") && name != kObjectTraced) add_if_new(found, name);
  }
  return found;
}

/// Adds the libraries of kTakenByNeed that lie next to the libraries in `files`.
void add_taken_by_need(std::vector<std::filesystem::path>& files) {
  const std::vector<std::filesystem::path> found = files;
  for (const std::filesystem::path& file : found)
    for (const char* const name : kTakenByNeed) {
      const std::filesystem::path beside = file.parent_path() / name;
      std::error_code ignored;
      if (std::filesystem::exists(beside, ignored)) add_if_new(files, beside);
    }
}

}  // namespace

Result<RunnerFiles::Ptr> RunnerFiles::create(std::filesystem::path program,
                                             const std::filesystem::path& linked) {
  const auto traced = trace(program, linked);
  if (!traced) return traced.error();
  std::shared_ptr<RunnerFiles> files(new RunnerFiles(std::move(program)));
  std::vector<std::filesystem::path> shown = files_in(*traced);
  for (const std::filesystem::path& file : shown) files->usual_libraries_.push_back(file.string());
  add_taken_by_need(shown);
  std::error_code ignored;
  if (std::filesystem::exists(kLoaderCache, ignored)) shown.emplace_back(kLoaderCache);
  for (const std::filesystem::path& file : shown) files->libraries_.push_back({file});
  return Ptr(std::move(files));
}

RunnerFiles::Ptr RunnerFiles::unconfined(std::filesystem::path program) {
  return Ptr(new RunnerFiles(std::move(program)));
}

void RunnerFiles::show_in(SandboxSpec& spec, const std::filesystem::path& inside) const {
  spec.copied.push_back({program_, inside});
  spec.copied.insert(spec.copied.end(), libraries_.begin(), libraries_.end());
}

}  // namespace kernelsmith::cpu
