#include "planner/occupancy.hpp"

#include <algorithm>

namespace kernelsmith::cuda::planner {
namespace {

/// Possible sizes of shared memory in KiB; each device has those up to its maximum.
constexpr std::uint64_t kCarveouts[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

std::uint64_t rounded(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

std::uint64_t registers_of_warp(const DeviceFacts& device, const plan::Kernel& kernel) {
  return rounded(kernel.registers * value_of(device, kWarpSize), device.occupancy.register_granule);
}

/// The number of warps whose registers fit on a multiprocessor.
std::uint64_t warps_by_registers(const DeviceFacts& device, const plan::Kernel& kernel) {
  const std::uint64_t of_warp =
      std::max<std::uint64_t>(registers_of_warp(device, kernel), device.occupancy.register_granule);
  const std::uint64_t partitions = device.occupancy.partitions;
  return value_of(device, kRegistersPerMultiprocessor) / partitions / of_warp * partitions;
}

std::uint64_t next_carveout(const DeviceFacts& device, std::uint64_t bytes) {
  const std::uint64_t most = value_of(device, kSharedPerMultiprocessor);
  for (const std::uint64_t kib : kCarveouts)
    if (kib << 10 >= bytes) return std::min(kib << 10, most);
  return most;
}

std::uint64_t shared_memory(const DeviceFacts& device, std::uint64_t block_bytes, int carveout) {
  const std::uint64_t most = value_of(device, kSharedPerMultiprocessor);
  if (carveout < 0) return most;
  const std::uint64_t wanted =
      next_carveout(device, most * static_cast<std::uint64_t>(std::min(carveout, 100)) / 100);
  // The driver uses more than requested if otherwise no block would fit.
  return wanted >= block_bytes ? wanted : next_carveout(device, block_bytes);
}

}  // namespace

std::uint64_t value_of(const DeviceFacts& device, DeviceAttribute attribute) {
  const auto found = device.attributes.find(attribute);
  return static_cast<std::uint64_t>(found != device.attributes.end() ? std::max(found->second, 0) : 0);
}

std::uint32_t max_threads(const DeviceFacts& device, const plan::Kernel& kernel) {
  return static_cast<std::uint32_t>(
      std::min(value_of(device, kMaxThreadsPerBlock),
               warps_by_registers(device, kernel) * value_of(device, kWarpSize)));
}

std::uint64_t BlockLimits::least() const {
  return std::min({by_threads, by_registers, by_shared, by_blocks});
}

BlockLimits block_limits(const DeviceFacts& device, const plan::Kernel& kernel, std::uint64_t threads,
                         std::uint64_t dynamic_shared, int carveout) {
  const std::uint64_t warp = value_of(device, kWarpSize);
  if (threads == 0 || warp == 0 || threads > max_threads(device, kernel)) return {};
  if (kernel.static_shared + dynamic_shared > value_of(device, kSharedPerBlockOptin)) return {};
  const std::uint64_t warps = (threads + warp - 1) / warp;
  // A block's warps are spread evenly over the partitions, and registers are counted accordingly.
  if (registers_of_warp(device, kernel) * rounded(warps, device.occupancy.partitions) >
      value_of(device, kRegistersPerMultiprocessor))
    return {};
  const std::uint64_t shared =
      rounded(kernel.static_shared + dynamic_shared + value_of(device, kReservedSharedPerBlock),
              device.occupancy.shared_granule);
  const std::uint64_t by_threads = value_of(device, kThreadsPerMultiprocessor) / warp / warps;
  return {by_threads, warps_by_registers(device, kernel) / warps,
          shared == 0 ? by_threads : shared_memory(device, shared, carveout) / shared,
          value_of(device, kBlocksPerMultiprocessor)};
}

std::uint32_t blocks_per_multiprocessor(const DeviceFacts& device, const plan::Kernel& kernel,
                                        std::uint64_t threads, std::uint64_t dynamic_shared, int carveout) {
  return static_cast<std::uint32_t>(block_limits(device, kernel, threads, dynamic_shared, carveout).least());
}

std::uint64_t dynamic_shared_for(const DeviceFacts& device, const plan::Kernel& kernel,
                                 std::uint64_t blocks) {
  if (blocks == 0) return 0;
  const std::uint64_t granule = device.occupancy.shared_granule;
  const std::uint64_t each = value_of(device, kSharedPerMultiprocessor) / blocks / granule * granule;
  const std::uint64_t taken = kernel.static_shared + value_of(device, kReservedSharedPerBlock);
  const std::uint64_t most = value_of(device, kSharedPerBlockOptin);
  const std::uint64_t free = each > taken ? each - taken : 0;
  return std::min(free, most > kernel.static_shared ? most - kernel.static_shared : 0);
}

std::uint32_t active_clusters(const DeviceFacts& device, std::uint32_t blocks_per_multiprocessor,
                              std::uint64_t cluster_blocks) {
  constexpr std::uint64_t kGpc = 16, kPair = 2;
  if (cluster_blocks == 0) return 0;
  const std::uint64_t all = value_of(device, kMultiprocessors);
  const std::uint64_t whole = all / kGpc * (kGpc * blocks_per_multiprocessor / cluster_blocks);
  const std::uint64_t rest = all % kGpc / kPair * (kPair * blocks_per_multiprocessor / cluster_blocks);
  return static_cast<std::uint32_t>(whole + rest);
}

}  // namespace kernelsmith::cuda::planner
