#include "toolchain/compiler_sandbox.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace kernelsmith::cuda {
namespace {

/// The scratch folder's path in the sandbox: the same in every build, so that names do not depend on it.
constexpr const char* kBuildFolder = "/build";
/// Seconds of wall time that a build may take for each allowed second of CPU time of a step: a build waits
/// for processors and has several steps.
constexpr double kWallPerCpu = 3;
/// CUTLASS-style templates need some 3 GB in nvcc.
constexpr std::uint64_t kCompileMemory = 6ULL << 30;
/// The limit of each file that a step writes: preprocessed sources of header-heavy candidates take some 10
/// MB.
constexpr std::uint64_t kMaxFileBytes = 128ULL << 20;

}  // namespace

std::filesystem::path build_folder(const std::filesystem::path& scratch, Confinement confinement) {
  return confinement == Confinement::unsandboxed ? scratch : std::filesystem::path(kBuildFolder);
}

SandboxSpec compiler_sandbox(const Toolkit& toolkit, std::vector<std::string> argv,
                             const std::filesystem::path& scratch, Confinement confinement, double cpu_s) {
  SandboxSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {
      {"PATH", (toolkit.root / "bin").string() + ":/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}};
  add_toolchain(spec);
  spec.read_only.push_back({toolkit.root, toolkit.root});
  const auto folder = build_folder(scratch, confinement);
  spec.read_write.push_back({scratch, folder});
  spec.working_directory = folder;
  spec.limits.cpu_s = cpu_s;
  spec.limits.wall_s = kWallPerCpu * cpu_s;
  spec.limits.memory_bytes = kCompileMemory;
  spec.limits.file_bytes = kMaxFileBytes;
  spec.limits.kept_output_bytes = kMaxLogBytes;
  spec.profile = SandboxProfile::toolchain;
  spec.confinement = confinement;
  return spec;
}

bool ran_out_of_limits(const SandboxResult& result) {
  if (result.kind == ExitKind::wall_limit || result.kind == ExitKind::memory_limit ||
      result.kind == ExitKind::output_limit)
    return true;
  if (result.kind == ExitKind::signalled && (result.code == SIGKILL || result.code == SIGXCPU)) return true;
  constexpr std::array<std::string_view, 6> kWords = {
      "out of memory",           "memory exhausted",        "bad_alloc", "Killed signal terminated program",
      "CPU time limit exceeded", "File size limit exceeded"};
  return std::ranges::any_of(
      kWords, [&](std::string_view words) { return result.err.find(words) != result.err.npos; });
}

}  // namespace kernelsmith::cuda
