#include <cstring>
#include <optional>

#include <kernelsmith/sandbox/run.hpp>

#include "supervisor.hpp"

namespace kernelsmith {

std::string_view name_of(ExitKind kind) {
  switch (kind) {
    case ExitKind::exited:
      return "exited";
    case ExitKind::signalled:
      return "signalled";
    case ExitKind::wall_limit:
      return "wall_limit";
    case ExitKind::memory_limit:
      return "memory_limit";
    case ExitKind::output_limit:
      return "output_limit";
    case ExitKind::killed:
      return "killed";
  }
  return "unknown";
}

std::string describe(const SandboxResult& result) {
  switch (result.kind) {
    case ExitKind::exited:
      return "exit status " + std::to_string(result.code);
    case ExitKind::signalled:
      return "signal " + std::to_string(result.code) + " (" + ::strsignal(result.code) + ")";
    case ExitKind::wall_limit:
      return "killed after " + std::to_string(result.wall_s) + " s, its time limit";
    case ExitKind::memory_limit:
      return "killed at its memory limit";
    case ExitKind::output_limit:
      return "killed for too much output";
    case ExitKind::killed:
      return "killed";
  }
  return {};
}

Result<SandboxResult> run_sandboxed(const SandboxSpec& spec, std::stop_token stop) {
  // A group of its own lets the kernel limit the memory of all processes together and kill them at once.
  std::optional<Cgroup> cgroup;
  if (Result<Cgroup> made = Cgroup::create()) cgroup.emplace(std::move(*made));
  Supervisor supervisor(spec, cgroup ? &*cgroup : nullptr);
  if (Status started = supervisor.start(); !started) return started.error();
  const std::stop_callback on_stop(stop, [&] { supervisor.request_kill(); });
  Result<SandboxResult> result = supervisor.watch();
  if (stop.stop_requested() && result && result->kind == ExitKind::killed)
    return fail(ErrorCode::cancelled, "stopped on request");
  return result;
}

}  // namespace kernelsmith
