#include "launch_profiles.hpp"

#include "planner/occupancy.hpp"

namespace kernelsmith::cuda {
namespace {

double count_of(const plan::Dim3& size) { return 1.0 * size[0] * size[1] * size[2]; }

/// What limits the blocks on a multiprocessor; empty if all its threads are used.
std::string limiter_of(const planner::BlockLimits& limits, double occupancy) {
  if (limits.least() == 0) return "the block's size";
  if (occupancy >= 1) return {};
  if (limits.least() == limits.by_threads) return "the block's size";
  if (limits.least() == limits.by_registers) return "registers";
  return limits.least() == limits.by_shared ? "shared memory" : "blocks";
}

LaunchProfile profile_of(const plan::Launch& launch, const KernelFacts& facts, const DeviceFacts& device) {
  const double threads = count_of(launch.block);
  const planner::BlockLimits limits =
      planner::block_limits(device, facts.kernel, static_cast<std::uint64_t>(threads), launch.dynamic_shared,
                            launch.shared_carveout);
  const auto blocks = static_cast<double>(limits.least());
  LaunchProfile profile;
  profile.kernel = plan::readable_name(facts.kernel.name);
  profile.grid = launch.grid;
  profile.block = launch.block;
  profile.registers = facts.kernel.registers;
  profile.shared_bytes = facts.kernel.static_shared + std::uint64_t{launch.dynamic_shared};
  profile.local_bytes = facts.kernel.local;
  profile.tensor_cores = facts.tensor_cores;
  if (blocks > 0) {
    profile.occupancy =
        blocks * threads / static_cast<double>(planner::value_of(device, planner::kThreadsPerMultiprocessor));
    profile.waves = count_of(launch.grid) /
                    (blocks * static_cast<double>(planner::value_of(device, planner::kMultiprocessors)));
  }
  profile.limiter = limiter_of(limits, profile.occupancy);
  return profile;
}

}  // namespace

std::vector<LaunchProfile> launch_profiles(const PlannedBinary& planned, const DeviceFacts& device) {
  std::vector<LaunchProfile> profiles;
  const auto& facts = planned.binary->facts().kernels;
  for (const plan::Launch* const launch : launches_of(planned))
    profiles.push_back(profile_of(*launch, facts[launch->kernel], device));
  return profiles;
}

}  // namespace kernelsmith::cuda
