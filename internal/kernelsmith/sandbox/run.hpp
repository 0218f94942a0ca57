// run_sandboxed: runs one program, such as a compiler or a command, in a sandbox until it ends. A runner with
// a channel is a SandboxedProcess (process.hpp).
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith {

/// How a sandboxed program ended.
enum class ExitKind {
  exited,        ///< it ended by itself, with `code`
  signalled,     ///< it ended by signal `code` (inside a sandbox an exit code of 128 + n counts as signal n)
  wall_limit,    ///< killed at limits.wall_s
  memory_limit,  ///< the kernel killed it because of limits.memory_bytes (known only if a memory cgroup is
                 ///< used)
  output_limit,  ///< killed for writing more than limits.output_bytes
  killed,        ///< killed by this process: kill(), or a destructor
};

std::string_view name_of(ExitKind kind);

/// A sandboxed program's end and its output.
struct SandboxResult {
  ExitKind kind = ExitKind::exited;
  int code = 0;
  std::string out;  ///< tail of stdout, as raw bytes; use escape_controls() before showing it
  std::string err;  ///< tail of stderr, as raw bytes
  bool out_truncated = false;
  bool err_truncated = false;
  double wall_s = 0;

  bool succeeded() const { return kind == ExitKind::exited && code == 0; }
};

/// "exit status 1", "signal 11 (Segmentation fault)", "killed after 60 s", ...
std::string describe(const SandboxResult& result);

/// Runs spec.argv and waits for its end. When it returns, no process that the program started is left.
///
/// A program that fails also gives a SandboxResult. Errors: tool_missing (no bubblewrap), unsupported
/// (namespaces not permitted), not_found (argv[0] or a bind does not exist), cancelled (on a stop request),
/// timeout (it was killed, and the kernel did not end it), busy (limits.still_s), io. Thread-safe.
Result<SandboxResult> run_sandboxed(const SandboxSpec& spec, std::stop_token stop = {});

}  // namespace kernelsmith
