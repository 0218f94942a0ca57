// GpuProfile: what a GPU candidate's call does at the first timed shape, launch by launch: by the plan
// and the compiled image, and by a profiler's counters if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith {

/// From this share of the whole on a stall, or another launch, is worth a word.
inline constexpr double kWorthNaming = 0.1;

/// What warps wait for, as a share of the time between two instructions of a warp.
struct StallShare {
  std::string cause;  ///< "loads from global memory"
  std::string helps;  ///< what usually helps, in words
  double share = 0;   ///< 0 to 1
};

/// A source line with its share of the profiler's samples in its kernel.
struct HotLine {
  std::string file;
  std::uint64_t line = 0;
  std::string text;
  double share = 0;  ///< 0 to 1
};

/// Which unit a launch keeps busiest.
enum class BoundBy { device_memory, caches, arithmetic, latency };

/// "device memory", "caches or shared memory", "arithmetic", "latency".
std::string_view name_of(BoundBy bound);

/// What a profiler counted. Shares are of the unit's peak, 0 to 1. A profiler may set the GPU's clocks, so
/// the time is no measurement of the judge's.
struct LaunchCounts {
  double us = 0;
  BoundBy bound = BoundBy::latency;
  double arithmetic = 0, memory_system = 0, device_memory = 0, tensor_cores = 0;
  std::optional<double> occupancy;   ///< warps that were active, as a share of the most
  std::optional<double> bytes;       ///< read from and written to device memory
  std::optional<double> operations;  ///< of the fp32 and fp64 units; empty if tensor cores worked, too
  std::optional<double> ridge;       ///< operations a byte at which fp32 arithmetic and memory take as long
  std::vector<StallShare> stalls;    ///< the largest first
  std::vector<HotLine> lines;        ///< the hottest first
};

/// One kernel launch.
struct LaunchProfile {
  std::string kernel;  ///< as its source has it
  plan::Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t registers = 0;     ///< of a thread
  std::uint64_t shared_bytes = 0;  ///< of a block
  std::uint32_t local_bytes = 0;   ///< of a thread in local memory: spills and arrays
  bool tensor_cores = false;       ///< the kernel holds a matrix instruction
  double occupancy = 0;            ///< that fits, as a share of a multiprocessor's threads
  std::string limiter;  ///< "registers", "shared memory", "the block's size", "blocks"; empty: nothing
  double waves = 0;     ///< blocks over those that the device holds at once
  std::optional<LaunchCounts> counts;
};

struct GpuProfile {
  std::string device;  ///< counted or planned for
  std::vector<LaunchProfile> launches;
  std::vector<std::string> missing;  ///< a sentence for each thing that is not known here
};

/// A few lines for a person and a model: the longest launches, or the first if nothing was counted.
std::string text_of(const GpuProfile& profile);

}  // namespace kernelsmith
