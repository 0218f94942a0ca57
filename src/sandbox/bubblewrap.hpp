// Converts a SandboxSpec to bubblewrap's arguments.
#pragma once

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "spawn.hpp"

namespace kernelsmith {

/// The descriptors that bubblewrap itself gets; a program's own have lower numbers.
inline constexpr int kStatusDescriptor = 64;
inline constexpr int kSeccompDescriptor = 65;
inline constexpr int kReleaseDescriptor = 66;      ///< the sandbox's init waits for a byte from it
inline constexpr int kReleaseKeptDescriptor = 67;  ///< its other end, so that init never sees the pipe closed
inline constexpr int kFirstCopiedDescriptor = 70;  ///< first descriptor of the copied files

/// The bubblewrap program on PATH. Error: tool_missing.
Result<std::string> find_bubblewrap();

/// Returns true if sandboxed programs must drop root first.
bool running_as_root();

/// Fills argv, environment, limits and staged paths of `request`. Error: invalid_argument, not_found,
/// tool_missing.
Status describe_to_bubblewrap(const SandboxSpec& spec, SpawnRequest& request);

/// Fills `request` for Confinement::unsandboxed: the program itself, with limits.
Status describe_unconfined(const SandboxSpec& spec, SpawnRequest& request);

}  // namespace kernelsmith
