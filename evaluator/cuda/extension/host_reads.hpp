// Host code that reads device memory: fake tensors have no memory, so it faults. The fault ends the call that
// made it, and not the planner.
#pragma once

#include <csetjmp>
#include <cstdint>

namespace kernelsmith::extension {

/// From now on a fault at an address of a fake tensor jumps to `jump` of the latest call.
void catch_host_reads();

/// Guards a call into an extension. Destructors of what was interrupted do not run: the planner's child ends
/// soon.
struct HostReads {
  HostReads();
  HostReads(const HostReads&) = delete;
  HostReads& operator=(const HostReads&) = delete;
  ~HostReads();

  sigjmp_buf jump;
  std::uint64_t address = 0;

 private:
  HostReads* before_;
};

}  // namespace kernelsmith::extension
