// Checks a launch against CUDA's limits for the largest device (programming guide, "Compute Capabilities").
// If only the runner's own device does not allow a launch, the driver refuses it when the runner builds its
// graph.
#include <string>

#include "plan/checks.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

constexpr Dim3 kMaxGrid{2147483647, 65535, 65535}, kMaxBlock{1024, 1024, 64};
constexpr std::uint64_t kMaxBlockThreads = 1024, kMaxClusterBlocks = 16, kMaxPortableClusterBlocks = 8;
constexpr std::uint64_t kMaxShared = 227 << 10;      ///< of a block, if a kernel opts in (sm_90, sm_100)
constexpr std::uint64_t kDefaultShared = 48 << 10;   ///< of a block, if it does not
constexpr std::uint64_t kBlockRegisters = 64 << 10;  ///< 32-bit registers
constexpr std::uint64_t kWarp = 32;                  ///< threads

std::uint64_t product(const Dim3& dim) { return std::uint64_t{dim[0]} * dim[1] * dim[2]; }

Status check_extents(const char* what, const Dim3& dim, const Dim3& most) {
  const std::string given = std::string("a ") + what + " of " + text_of(dim);
  for (std::size_t i = 0; i < dim.size(); ++i) {
    if (dim[i] == 0) return refuse(given + ": a dimension is 0", "If there is nothing to do, launch nothing");
    if (dim[i] > most[i])
      return refuse(given + "; CUDA allows " + text_of(most),
                    std::string("Put more work into the x dimension, or make each ") +
                        (std::string(what) == "grid" ? "block" : "thread") + " do more");
  }
  return {};
}

Status check_block(const Launch& launch, const Kernel& kernel) {
  if (Status status = check_extents("block", launch.block, kMaxBlock); !status) return status;
  const std::uint64_t threads = product(launch.block);
  if (threads > kMaxBlockThreads)
    return refuse("a block of " + counted(threads, "thread") + "; CUDA allows 1024", "Use smaller blocks");
  const std::uint64_t registers = (threads + kWarp - 1) / kWarp * kWarp * kernel.registers;
  if (registers > kBlockRegisters)
    return refuse(
        counted(threads, "thread") + " of a block need " + std::to_string(kernel.registers) +
            " registers each; a block has 65536",
        "Say __launch_bounds__(" + std::to_string(threads) + ") at the kernel, or use smaller blocks");
  return {};
}

Status check_cluster(const Launch& launch) {
  if (!launch.cluster) return {};
  const Dim3& cluster = *launch.cluster;
  const std::string given = "a cluster of " + text_of(cluster);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (cluster[i] == 0) return refuse(given + ": a dimension is 0", "Use 1 for dimensions without clusters");
    if (launch.grid[i] % cluster[i] != 0)
      return refuse(given + " does not divide the grid of " + text_of(launch.grid),
                    "Round the grid up to a multiple of the cluster, and let spare blocks do nothing");
  }
  // The product of dimensions that divide a grid can still overflow, so each is compared first.
  const bool huge =
      cluster[0] > kMaxClusterBlocks || cluster[1] > kMaxClusterBlocks || cluster[2] > kMaxClusterBlocks;
  if (huge || product(cluster) > kMaxClusterBlocks)
    return refuse(given + " has more than 16 blocks",
                  "Use clusters of at most 8 blocks (16 if non-portable sizes are allowed)");
  if (product(cluster) > kMaxPortableClusterBlocks && !launch.nonportable_cluster)
    return refuse(
        given + " has more than 8 blocks",
        "Set cudaFuncAttributeNonPortableClusterSizeAllowed of the kernel, or use at most 8 blocks");
  return {};
}

Status check_shared(const Launch& launch, const Kernel& kernel) {
  const std::uint64_t fixed = kernel.static_shared;
  const auto sum = [&](std::uint64_t dynamic) {
    return std::to_string(dynamic) + " bytes of dynamic and " + std::to_string(fixed) +
           " of static shared memory";
  };
  for (const std::uint64_t dynamic : {launch.dynamic_shared, launch.max_dynamic_shared})
    if (dynamic + fixed > kMaxShared)
      return refuse(sum(dynamic) + "; a block has at most " + std::to_string(kMaxShared),
                    "Use smaller tiles or fewer stages");
  if (launch.max_dynamic_shared > 0 && launch.dynamic_shared > launch.max_dynamic_shared)
    return refuse(sum(launch.dynamic_shared) +
                      ", but cudaFuncAttributeMaxDynamicSharedMemorySize was set to " +
                      std::to_string(launch.max_dynamic_shared),
                  "Set the attribute to the largest size that the kernel is launched with");
  if (launch.max_dynamic_shared == 0 && fixed > kDefaultShared)
    return refuse(
        std::to_string(fixed) + " bytes of static shared memory; above 49152 it has to be dynamic",
        "Declare it as `extern __shared__`, and call cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES) before the launch: that gives up to 227 "
        "KiB");
  if (launch.max_dynamic_shared == 0 && launch.dynamic_shared + fixed > kDefaultShared)
    return refuse(sum(launch.dynamic_shared) + "; above 49152 a kernel has to ask for it",
                  "Call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, " +
                      std::to_string(launch.dynamic_shared) + ") before the launch");
  if (launch.shared_carveout < -1 || launch.shared_carveout > 100)
    return refuse("a shared memory carve-out of " + std::to_string(launch.shared_carveout),
                  "Give cudaFuncAttributePreferredSharedMemoryCarveout in per cent: -1 to 100");
  return {};
}

Status check_parameters(const Launch& launch, const Kernel& kernel, std::size_t tensor_maps) {
  const std::size_t have = launch.parameters.size();
  if (have > kMaxParameterBytes)
    return refuse(counted(have, "byte") + " of parameters; CUDA allows " + std::to_string(kMaxParameterBytes),
                  "Put large structures into device memory, and pass their address");
  for (const Parameter& parameter : kernel.parameters)
    if (std::uint64_t{parameter.offset} + parameter.size > have)
      return refuse("the launch gives " + counted(have, "byte") +
                        " of parameters, the kernel's last ends at " +
                        std::to_string(std::uint64_t{parameter.offset} + parameter.size),
                    "Pass every argument that the kernel declares");
  if (launch.tensor_maps.size() > kMaxTensorMaps)
    return refuse(counted(launch.tensor_maps.size(), "tensor map") + " in one launch",
                  "Pass fewer tensor maps");
  for (const TensorMapUse& use : launch.tensor_maps) {
    if (use.map >= tensor_maps)
      return refuse("a tensor map number " + std::to_string(use.map) + " that the call does not have",
                    "Make tensor maps with cuTensorMapEncodeTiled in the call that uses them");
    if (use.offset + kTensorMapBytes > have)
      return refuse("a tensor map at byte " + std::to_string(use.offset) + " of " + std::to_string(have) +
                        " bytes of parameters",
                    "Pass tensor maps by value, as const __grid_constant__ CUtensorMap");
  }
  return {};
}

}  // namespace

Status check_launch(const Launch& launch, const Kernel& kernel, std::size_t tensor_maps) {
  if (Status status = check_extents("grid", launch.grid, kMaxGrid); !status) return status;
  if (Status status = check_block(launch, kernel); !status) return status;
  if (Status status = check_cluster(launch); !status) return status;
  if (Status status = check_shared(launch, kernel); !status) return status;
  return check_parameters(launch, kernel, tensor_maps);
}

}  // namespace kernelsmith::plan
