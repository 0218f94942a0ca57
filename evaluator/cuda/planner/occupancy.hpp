// Computes how many blocks of a kernel fit on a device at once, by the rules of the vendors' occupancy
// functions. Pure functions.
#pragma once

#include <cstdint>

#include <kernelsmith/evaluator/plan.hpp>

#include "planner/planner.hpp"

namespace kernelsmith::cuda::planner {

/// The keys of DeviceFacts::attributes, with the numbers of CUdevice_attribute. A vendor with other numbers
/// has a table (DeviceTable::attributes).
using DeviceAttribute = int;
inline constexpr DeviceAttribute kMaxThreadsPerBlock = 1;
inline constexpr DeviceAttribute kSharedPerBlock = 8;
inline constexpr DeviceAttribute kWarpSize = 10;
inline constexpr DeviceAttribute kMultiprocessors = 16;
inline constexpr DeviceAttribute kThreadsPerMultiprocessor = 39;
inline constexpr DeviceAttribute kSharedPerMultiprocessor = 81;
inline constexpr DeviceAttribute kRegistersPerMultiprocessor = 82;
inline constexpr DeviceAttribute kSharedPerBlockOptin = 97;
inline constexpr DeviceAttribute kBlocksPerMultiprocessor = 106;
inline constexpr DeviceAttribute kReservedSharedPerBlock = 111;
inline constexpr DeviceAttribute kNeeded[] = {kMaxThreadsPerBlock,
                                              kSharedPerBlock,
                                              kWarpSize,
                                              kMultiprocessors,
                                              kThreadsPerMultiprocessor,
                                              kSharedPerMultiprocessor,
                                              kRegistersPerMultiprocessor,
                                              kSharedPerBlockOptin,
                                              kBlocksPerMultiprocessor,
                                              kReservedSharedPerBlock};

/// The attribute's value; 0 if the device's facts lack it.
std::uint64_t value_of(const DeviceFacts& device, DeviceAttribute attribute);

/// Blocks of one kernel on one multiprocessor, by each of its resources. All are 0 if such a block does not
/// fit.
struct BlockLimits {
  std::uint64_t by_threads = 0, by_registers = 0, by_shared = 0, by_blocks = 0;
  std::uint64_t least() const;
};

BlockLimits block_limits(const DeviceFacts& device, const plan::Kernel& kernel, std::uint64_t threads,
                         std::uint64_t dynamic_shared, int carveout);

/// Blocks of one kernel on one multiprocessor. `carveout` is a percentage of the shared memory; -1: the
/// driver's choice. Returns 0 if such a block does not fit.
std::uint32_t blocks_per_multiprocessor(const DeviceFacts& device, const plan::Kernel& kernel,
                                        std::uint64_t threads, std::uint64_t dynamic_shared, int carveout);

/// Threads of the largest block that the kernel's registers allow.
std::uint32_t max_threads(const DeviceFacts& device, const plan::Kernel& kernel);

/// Dynamic shared memory with which `blocks` blocks fit on one multiprocessor.
std::uint64_t dynamic_shared_for(const DeviceFacts& device, const plan::Kernel& kernel, std::uint64_t blocks);

/// Clusters of `cluster_blocks` blocks on the whole device. A low estimate, because a cluster must stay
/// within a processing cluster (GPC). Each is assumed to have 16 multiprocessors, and remaining
/// multiprocessors are counted in pairs.
std::uint32_t active_clusters(const DeviceFacts& device, std::uint32_t blocks_per_multiprocessor,
                              std::uint64_t cluster_blocks);

}  // namespace kernelsmith::cuda::planner
