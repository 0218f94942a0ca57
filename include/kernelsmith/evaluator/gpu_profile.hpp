// GpuProfile: the launches of a GPU candidate's call at the first timed shape, from the plan, the compiled
// image and, if available, a profiler's counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith {

/// Texts mention a stall or a launch with at least this share of the whole.
inline constexpr double kWorthNaming = 0.1;

/// A reason why warps wait, as a share of the time between two instructions of a warp.
struct StallShare {
  std::string cause;  ///< "loads from global memory"
  std::string helps;  ///< advice: what usually helps
  double share = 0;   ///< 0 to 1
};

/// A source line with its share of the profiler's samples in its kernel.
struct HotLine {
  std::string file;
  std::uint64_t line = 0;
  std::string text;
  double share = 0;  ///< 0 to 1
};

/// The unit that a launch uses most.
enum class BoundBy { device_memory, caches, arithmetic, latency };

/// "device memory", "caches or shared memory", "arithmetic", "latency".
std::string_view name_of(BoundBy bound);

/// A profiler's counters. Shares are fractions of the unit's peak, 0 to 1. A profiler may set the GPU's
/// clocks, so its times differ from the judge's.
struct LaunchCounts {
  double us = 0;
  BoundBy bound = BoundBy::latency;
  double arithmetic = 0, memory_system = 0, device_memory = 0, tensor_cores = 0;
  std::optional<double> occupancy;   ///< active warps as a share of the maximum
  std::optional<double> bytes;       ///< read from and written to device memory
  std::optional<double> operations;  ///< operations of the fp32 and fp64 units; empty if tensor cores were
                                     ///< used too
  /// Operations per byte at which fp32 arithmetic and memory take the same time.
  std::optional<double> ridge;
  std::vector<StallShare> stalls;  ///< the largest first
  std::vector<HotLine> lines;      ///< the hottest first
};

/// One kernel launch.
struct LaunchProfile {
  std::string kernel;  ///< its name in the source
  plan::Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t registers = 0;     ///< registers of a thread
  std::uint64_t shared_bytes = 0;  ///< shared memory of a block
  std::uint32_t local_bytes = 0;   ///< local memory of a thread: spills and arrays
  bool tensor_cores = false;       ///< the kernel contains a matrix instruction
  double occupancy = 0;            ///< theoretical occupancy: a share of a multiprocessor's threads
  std::string limiter;  ///< what limits the occupancy: "registers", "shared memory", "the block's size",
                        ///< "blocks"; empty if nothing does
  double waves = 0;     ///< number of blocks / number of blocks that the device runs at once
  std::optional<LaunchCounts> counts;
};

struct GpuProfile {
  std::string device;  ///< the device that it was profiled on or planned for
  std::vector<LaunchProfile> launches;
  std::vector<std::string> missing;  ///< a sentence for each thing that is not known
};

/// A few lines for people and models: the longest launches, or the first ones if nothing was profiled.
std::string text_of(const GpuProfile& profile);

}  // namespace kernelsmith
