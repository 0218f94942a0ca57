#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include <unistd.h>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/evaluator_cpu/cpu_evaluator.hpp>
#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/sandbox/files.hpp>
#include <kernelsmith/sandbox/run.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {
namespace {

constexpr double kEnoughDiskGib = 1;
constexpr unsigned kEnoughCores = 4;  // with fewer, nothing compiles while something is timed
constexpr const char* kCheckTemporaries =
    "check the folder for temporary files (TMPDIR): is it there, with room?";

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; ::access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

MachineCheck failed(const char* name, Error error, const char* remedy = "") {
  if (error.hint.empty()) error.hint = remedy;
  const std::string hint = std::exchange(error.hint, {});
  return {name, CheckStatus::missing, describe(error), hint, true};
}

/// Where a task has several shapes.
std::string at(const std::string& shape) { return shape.empty() ? "" : " at " + shape; }

/// What make_cpu_evaluator() has built and checked.
std::string what_passes(const Task& task) {
  std::vector<std::string> parts = {"reference"};
  if (!task.baseline.empty()) parts.push_back("baseline");
  if (!task.seed.empty()) parts.push_back("seed");
  if (!task.yardstick.empty()) parts.push_back("yardstick");
  std::string words = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) words += (i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return words + (parts.size() == 1 ? " compiles and passes" : " compile and pass");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A program of the system run where kernelsmith would run it: in the sandbox, or without one where there is
/// none.
Result<SandboxResult> try_program(std::vector<std::string> argv, const std::filesystem::path& scratch,
                                  bool sandboxed) {
  SandboxSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  add_toolchain(spec);
  spec.read_write = {{scratch, scratch}};
  spec.working_directory = scratch;
  spec.confinement = sandboxed ? Confinement::sandboxed : Confinement::unsandboxed;
  return run_sandboxed(spec);
}

/// Why it did not succeed; empty where it did.
std::string fault_of(const Result<SandboxResult>& result) {
  if (!result) return describe(result.error());
  if (result->succeeded()) return "";
  return describe(*result) + ": " + first_line(escape_controls(result->err));
}

MachineCheck check_compiler(bool sandboxed) {
  MachineCheck check{"compiler", CheckStatus::missing, "no g++ on the PATH", "apt-get install g++", true};
  const auto compiler = find_program("g++");
  if (!compiler) return check;
  const auto scratch = ScratchFolder::create();
  if (!scratch) return failed("compiler", scratch.error(), kCheckTemporaries);
  if (const Status written =
          scratch->write("probe.cpp", "#include <cstdint>\nextern \"C\" void probe() {}\n");
      !written)
    return failed("compiler", written.error(), kCheckTemporaries);
  if (const auto fault = fault_of(try_program({*compiler, "-shared", "-fPIC", "-o", "probe.so", "probe.cpp"},
                                              scratch->path(), sandboxed));
      !fault.empty()) {
    const bool full = fault.find("No space left") != fault.npos;
    check.detail = *compiler + " does not compile: " + fault;
    check.remedy = full ? kCheckTemporaries : "apt-get install --reinstall g++";
    return check;
  }
  const auto version = try_program({*compiler, "--version"}, scratch->path(), sandboxed);
  return {"compiler", CheckStatus::ok, version ? first_line(version->out) : *compiler, "", true};
}

MachineCheck check_python(bool sandboxed) {
  const std::string python = "/usr/bin/python3";
  const auto scratch = ScratchFolder::create();
  if (!scratch) {
    MachineCheck check = failed("python", scratch.error(), kCheckTemporaries);
    check.status = CheckStatus::limited;
    check.required = false;
    return check;
  }
  const std::string fault = fault_of(try_program({python, "-c", "import json"}, scratch->path(), sandboxed));
  if (fault.empty())
    return {"python", CheckStatus::ok, python + ", for command tasks written in Python", "", false};
  return {"python", CheckStatus::limited, fault, "apt-get install python3 (only some command tasks use it)",
          false};
}

/// bubblewrap and what it needs are required; what only raises the tier is not.
MachineCheck check_of(const SandboxCapability& capability) {
  const bool required = capability.name == "bubblewrap" || capability.name == "sandbox";
  const auto lacking = required ? CheckStatus::missing : CheckStatus::limited;
  return {capability.name, capability.available ? CheckStatus::ok : lacking, capability.detail,
          capability.remedy, required};
}

MachineCheck check_store() {
  const auto scratch = ScratchFolder::create();
  if (!scratch) return failed("run store", scratch.error(), kCheckTemporaries);
  const auto store = RunStore::create(scratch->path() / "probe.run", "version: 1\n");
  if (!store) return failed("run store", store.error(), kCheckTemporaries);
  if (const Status intact = (*store)->integrity_check(); !intact)
    return failed("run store", intact.error(), kCheckTemporaries);
  return {"run store", CheckStatus::ok, "an SQLite run was made and checked", "", true};
}

MachineCheck check_disk(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  if (failed)
    return {"disk", CheckStatus::limited, folder.string() + ": " + failed.message(), "check the folder",
            false};
  const double gib = static_cast<double>(space.available) / (1 << 30);
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GiB free", gib);
  if (gib >= kEnoughDiskGib) return {"disk", CheckStatus::ok, text, "", false};
  return {"disk", CheckStatus::limited, text, "make room: a long run can fill 1 GiB", false};
}

MachineCheck check_cores() {
  const unsigned cores = std::thread::hardware_concurrency();
  const std::string text = std::to_string(cores) + " cores";
  if (cores >= kEnoughCores) return {"cores", CheckStatus::ok, text, "", false};
  return {"cores", CheckStatus::limited, text + ": nothing compiles while a kernel is timed",
          "a machine with 4 cores searches faster", false};
}

}  // namespace

std::string_view name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::ok:
      return "ok";
    case CheckStatus::limited:
      return "limited";
    case CheckStatus::missing:
      return "missing";
  }
  return "";
}

bool MachineReport::usable() const {
  return std::ranges::none_of(checks, [](const MachineCheck& check) {
    return check.required && check.status == CheckStatus::missing;
  });
}

MachineReport examine_machine(const std::filesystem::path& folder) {
  const SandboxCapabilities sandbox = probe_sandbox();
  const SandboxCapability* works = sandbox.find("sandbox");
  const bool sandboxed = works && works->available;

  MachineReport report;
  report.checks.push_back(check_compiler(sandboxed));
  for (const SandboxCapability& capability : sandbox.items) report.checks.push_back(check_of(capability));
  report.checks.push_back(check_python(sandboxed));
  report.checks.push_back(check_store());
  report.checks.push_back(check_disk(folder));
  report.checks.push_back(check_cores());
  report.tier = sandbox.tier();
  return report;
}

std::vector<MachineCheck> examine_precision(const Task& task) {
  if (task.backend != "cpu") return {};
  const auto precision = check_precision(task);
  if (!precision) return {failed("precision", precision.error())};
  if (precision->empty())
    return {{"precision", CheckStatus::ok, "outputs are compared bit for bit: any other precision fails", "",
             false}};
  std::vector<MachineCheck> checks;
  for (const PrecisionCheck& check : *precision) {
    MachineCheck& found = checks.emplace_back();
    found.name = "precision";
    found.detail = check.lower + " inputs fail " + std::to_string(check.caught) + " of " +
                   std::to_string(check.sets) + " sets" + at(check.shape);
    if (!check.tells()) {
      found.status = CheckStatus::limited;
      found.detail += ": a kernel that computes so would be accepted";
      found.remedy =
          "time a shape with shorter sums, give the inputs another init, or allow it by name: tolerance: "
          "{allow: [" +
          std::string(check.lower == "tf32" ? "tf32" : "bf16_accumulate") + "]}";
    }
    for (const std::string& name : check.negligible)
      checks.push_back({"inputs", CheckStatus::limited,
                        "half of '" + name + "' could be left out" + at(check.shape) +
                            ": what it adds to the outputs is less than they may be off",
                        "let it matter more: another factor in the reference, or an output of its own",
                        false});
  }
  return checks;
}

std::vector<MachineCheck> examine_knobs(const Task& task) {
  if (task.seed.empty()) return {};
  const auto knobs = find_knobs(task.seed);
  if (!knobs) return {failed("knobs", knobs.error())};
  const auto path_of = [&](const auto& knob) -> const std::string& {
    return task.seed.files()[knob.file].path;
  };
  std::vector<MachineCheck> checks;
  for (const Knob& knob : *knobs)
    checks.push_back({"knobs", CheckStatus::ok, describe(knob, path_of(knob)), "", false});
  if (checks.empty()) checks.push_back({"knobs", CheckStatus::ok, "the seed has none", "", false});
  for (const NearKnob& knob : find_near_knobs(task.seed))
    checks.push_back({"knobs", CheckStatus::limited, describe(knob, path_of(knob)),
                      "write `" + knob.meant + "`, or another word behind the @", false});
  return checks;
}

std::vector<MachineCheck> examine_task(const Task& task) {
  std::vector<MachineCheck> checks = examine_knobs(task);
  if (task.backend != "cpu") return checks;
  CpuOptions options;
  options.bank_seconds = 0.2;
  if (const auto evaluator = make_cpu_evaluator(task, options); !evaluator)
    return {failed("task", evaluator.error())};
  const std::vector<MachineCheck> precision = examine_precision(task);
  checks.insert(checks.begin(), precision.begin(), precision.end());
  checks.insert(checks.begin(), {"task", CheckStatus::ok, what_passes(task), "", true});
  return checks;
}

}  // namespace kernelsmith
