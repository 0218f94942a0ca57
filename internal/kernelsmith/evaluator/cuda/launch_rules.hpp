// How runners launch their own kernels, whatever the vendor. torch's workers get these numbers with a task.
#pragma once

#include <cstdint>

namespace kernelsmith::cuda {

// One block fills an SM. The first wave should reach all SMs; the further waves make sure of that.
inline constexpr unsigned kWipeWaves = 4;
inline constexpr unsigned kWipeThreads = 1024;
inline constexpr unsigned kSweepBlocks = 8;  // of an SM: enough loads in flight
inline constexpr unsigned kSweepThreads = 256;
// A sweep reads this many times the size of the L2, because each half of the L2 may have a copy of a line,
// and replacement is random.
inline constexpr unsigned kSweepOverL2 = 2;
/// The gate opens by itself after this time, in case a launch waits for the stream. That costs this time
/// once, and the batch was launched late.
inline constexpr std::uint64_t kGateNs = 20'000'000;

}  // namespace kernelsmith::cuda
