// The system calls that each profile denies, as a compiled filter for bubblewrap.
#pragma once

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "descriptor.hpp"

namespace kernelsmith {

/// A memory file that holds the profile's BPF program. Compiled once for each profile. Error: unsupported.
Result<Descriptor> seccomp_filter(SandboxProfile profile);

}  // namespace kernelsmith
