#include "toolchain/compiler_sandbox.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace kernelsmith::cuda {
namespace {

/// Where the scratch folder is seen in the sandbox: the same in every build, so that no name depends on it.
constexpr const char* kBuildFolder = "/build";
/// What a build may take of wall time for each second of CPU time that each of its steps may take: it waits
/// for processors, and its steps follow one another.
constexpr double kWallPerCpu = 3;
/// CUTLASS-style templates take nvcc some 3 GB.
constexpr std::uint64_t kCompileMemory = 6ULL << 30;
/// The limit of each file that a step leaves: preprocessed sources of header-heavy candidates take some 10
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
