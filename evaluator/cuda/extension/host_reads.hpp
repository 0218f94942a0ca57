// Handles host code that reads device memory. Fake tensors have no memory, so the read faults. The fault ends
// the call, but not the planner.
#pragma once

#include <csetjmp>
#include <cstdint>

namespace kernelsmith::extension {

/// From now on a fault at an address of a fake tensor jumps to the latest HostReads::jump.
void catch_host_reads();

/// Guards a call into an extension. Destructors of interrupted code do not run, because the planner's child
/// ends soon.
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
