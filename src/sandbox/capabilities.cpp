#include <algorithm>

#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/sandbox/cgroup.hpp>
#include <kernelsmith/sandbox/process.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "bubblewrap.hpp"
#include "seccomp.hpp"
#include "v1_group.hpp"

namespace kernelsmith {

namespace {

SandboxCapability found(std::string name, std::string detail) {
  return {std::move(name), true, std::move(detail), {}};
}

SandboxCapability missing(std::string name, const Error& error) {
  return {std::move(name), false, error.message, error.hint};
}

std::string first_line(const std::string& text) { return escape_controls(text.substr(0, text.find('\n'))); }

SandboxCapability probe_bubblewrap() {
  const Result<std::string> program = find_bubblewrap();
  if (!program) return missing("bubblewrap", program.error());
  SandboxSpec spec;
  spec.argv = {*program, "--version"};
  spec.confinement = Confinement::unsandboxed;
  const Result<SandboxResult> result = run_sandboxed(spec);
  if (!result) return missing("bubblewrap", result.error());
  if (!result->succeeded())
    return {"bubblewrap", false, *program + " --version: " + describe(*result),
            "reinstall it: apt-get install bubblewrap"};
  return found("bubblewrap", first_line(result->out) + " (" + *program + ")");
}

// The dynamic loader exists on every machine with a C library.
SandboxCapability probe_namespaces() {
  SandboxSpec spec;
  add_toolchain(spec);
  spec.argv = {"/usr/bin/true"};
  const Result<SandboxResult> result = run_sandboxed(spec);
  if (!result) {
    Error error = result.error();
    if (error.code == ErrorCode::unsupported)
      error.hint =
          "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 (Debian), "
          "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu 24.04), or docker run "
          "--security-opt seccomp=unconfined --security-opt systempaths=unconfined";
    return missing("sandbox", error);
  }
  if (!result->succeeded())
    return {"sandbox", false, "a program that does nothing ended with " + describe(*result),
            "see its message: " + first_line(result->err)};
  return found("sandbox", "user, pid, network, ipc, uts and mount namespaces");
}

SandboxCapability probe_seccomp() {
  const Result<Descriptor> filter = seccomp_filter(SandboxProfile::runner);
  if (!filter) return missing("seccomp", filter.error());
  return found("seccomp", "filters for compilers, commands and runners");
}

SandboxCapability probe_freezer(Result<Cgroup>& cgroup) {
  if (!cgroup) return missing("freezer", cgroup.error());
  if (Status frozen = cgroup->freeze(); !frozen) return missing("freezer", frozen.error());
  if (Status thawed = cgroup->thaw(); !thawed) return missing("freezer", thawed.error());
  return found("freezer", cgroup->path().parent_path().string());
}

SandboxCapability probe_clock(const Result<Cgroup>& cgroup) {
  if (!cgroup) return missing("cpu clock", cgroup.error());
  if (const auto time = cgroup->cpu_time_us(); !time) return missing("cpu clock", time.error());
  return found("cpu clock", "cpu.stat of the cgroup");
}

SandboxCapability probe_memory(Result<Cgroup>& cgroup) {
  constexpr std::uint64_t kEnough = 1ULL << 30;
  if (cgroup && cgroup->limit_memory(kEnough))
    return found("memory limit", "cgroup v2, for all processes together");
  if (V1Group::with_memory(kEnough))
    return found("memory limit", "cgroup v1, for all processes of a command together");
  return {"memory limit", false, "only the address space of each process is limited",
          "delegate the memory controller of cgroup v2 to this user"};
}

}  // namespace

const SandboxCapability* SandboxCapabilities::find(std::string_view name) const {
  const auto item =
      std::find_if(items.begin(), items.end(), [&](const auto& one) { return one.name == name; });
  return item == items.end() ? nullptr : &*item;
}

std::string SandboxCapabilities::tier() const {
  const auto has = [this](std::string_view name) {
    const SandboxCapability* item = find(name);
    return item != nullptr && item->available;
  };
  if (!has("bubblewrap") || !has("sandbox") || !has("seccomp")) return "unsandboxed";
  return has("freezer") && has("cpu clock") ? "full" : "weak";
}

SandboxCapabilities probe_sandbox() {
  SandboxCapabilities capabilities;
  capabilities.items.push_back(probe_bubblewrap());
  capabilities.items.push_back(probe_namespaces());
  capabilities.items.push_back(probe_seccomp());
  Result<Cgroup> cgroup = Cgroup::create();
  capabilities.items.push_back(probe_freezer(cgroup));
  capabilities.items.push_back(probe_clock(cgroup));
  capabilities.items.push_back(probe_memory(cgroup));
  return capabilities;
}

}  // namespace kernelsmith
