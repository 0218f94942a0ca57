#include <algorithm>
#include <thread>
#include <utility>

#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/fleet/server.hpp>
#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>
#include <kernelsmith/sandbox/try_tool.hpp>
#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {
namespace {

constexpr double kEnoughDiskGib = 1;
constexpr unsigned kEnoughCores = 4;  // with fewer, nothing compiles while something is timed

/// The sandbox requires bubblewrap. Capabilities that only raise the tier are optional.
MachineCheck check_of(const SandboxCapability& capability) {
  const bool required = capability.name == "bubblewrap" || capability.name == "sandbox";
  const auto lacking = required ? CheckStatus::missing : CheckStatus::limited;
  return {capability.name, capability.available ? CheckStatus::ok : lacking, capability.detail,
          capability.remedy, required};
}

MachineCheck check_store() {
  const auto scratch = ScratchFolder::create();
  if (!scratch) return failed_check("run store", scratch.error(), kCheckTemporaries);
  const auto store = RunStore::create(scratch->path() / "probe.run", "version: 1\n");
  if (!store) return failed_check("run store", store.error(), kCheckTemporaries);
  if (const Status intact = (*store)->integrity_check(); !intact)
    return failed_check("run store", intact.error(), kCheckTemporaries);
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

MachineCheck check_fleet() {
  if (const Status support = check_fleet_support(); !support)
    return {"fleet", CheckStatus::limited, support.error().message, support.error().hint, false};
  return {"fleet", CheckStatus::ok, "this build can evaluate on other machines, over a NATS server", "",
          false};
}

}  // namespace

bool MachineReport::usable() const {
  return std::ranges::none_of(checks, [](const MachineCheck& check) {
    return check.required && check.status == CheckStatus::missing;
  });
}

MachineReport examine_machine(const std::filesystem::path& folder, const Backends& backends) {
  const SandboxCapabilities sandbox = probe_sandbox();
  const SandboxCapability* works = sandbox.find("sandbox");
  const bool sandboxed = works && works->available;

  MachineReport report;
  for (const SandboxCapability& capability : sandbox.items) report.checks.push_back(check_of(capability));
  for (const auto& [name, backend] : backends) {
    BackendReport& of_backend = report.backends.emplace_back(BackendReport{name, {}});
    if (!backend.examine_machine) continue;
    for (MachineCheck& check : backend.examine_machine(sandboxed)) {
      if (check.status != CheckStatus::ok && !check.helpful) of_backend.missing.push_back(check.name);
      report.checks.push_back(std::move(check));
    }
  }
  report.checks.push_back(check_store());
  report.checks.push_back(check_disk(folder));
  report.checks.push_back(check_cores());
  report.checks.push_back(check_fleet());
  report.tier = sandbox.tier();
  return report;
}

std::vector<MachineCheck> examine_precision(const Task& task, const Backends& backends) {
  const auto backend = backends.find(task.backend);
  if (backend == backends.end() || !backend->second.examine_precision) return {};
  return backend->second.examine_precision(task);
}

std::vector<MachineCheck> examine_knobs(const Task& task) {
  if (task.seed.empty()) return {};
  const auto knobs = find_knobs(task.seed);
  if (!knobs) return {failed_check("knobs", knobs.error())};
  const auto path_of = [&](const auto& knob) -> const std::string& {
    return task.seed.files()[knob.file].path;
  };
  std::vector<MachineCheck> checks;
  for (const Knob& knob : *knobs)
    checks.push_back({"knobs", CheckStatus::ok, describe(knob, path_of(knob)), "", false});
  if (checks.empty()) checks.push_back({"knobs", CheckStatus::ok, "the seed has none", "", false});
  for (const NearKnob& knob : find_near_knobs(task.seed))
    checks.push_back({"knobs", CheckStatus::limited, describe(knob, path_of(knob)),
                      "write `" + knob.meant + "`, or another word after the @", false});
  return checks;
}

std::vector<MachineCheck> examine_task(const Task& task, const Backends& backends) {
  std::vector<MachineCheck> checks;
  const auto backend = backends.find(task.backend);
  if (backend != backends.end() && backend->second.examine_task) {
    checks = backend->second.examine_task(task);
    if (checks.front().status == CheckStatus::missing) return checks;
  }
  for (MachineCheck& check : examine_precision(task, backends)) checks.push_back(std::move(check));
  for (MachineCheck& check : examine_knobs(task)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace kernelsmith
