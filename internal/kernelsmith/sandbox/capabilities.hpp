// Tests what this machine offers for a sandbox. `kernelsmith doctor` and the tier that a run records use the
// result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// One ability of the machine.
struct SandboxCapability {
  std::string name;  ///< such as "bubblewrap"
  bool available = false;
  std::string detail;  ///< what was found, such as "bubblewrap 0.8.0"
  std::string remedy;  ///< how to get it; empty if it is available
};

/// The sandbox abilities of this machine.
struct SandboxCapabilities {
  std::vector<SandboxCapability> items;  ///< bubblewrap, sandbox, seccomp, freezer, cpu clock, memory limit

  /// The item of that name; null if there is none.
  const SandboxCapability* find(std::string_view name) const;

  /// The trust in scores of this machine: "full"; "weak" (no freezer or no cgroup clock); or "unsandboxed"
  /// (no sandbox, and nothing runs without an explicit request).
  std::string tier() const;
};

/// Tries everything once (about 50 ms). Thread-safe.
SandboxCapabilities probe_sandbox();

}  // namespace kernelsmith
