// The recording runtime's attributes of kernels, and occupancy.

#include "planner/occupancy.hpp"
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtime's own names
using namespace kernelsmith::cuda::planner;

namespace {

constexpr int kPortableCluster = 8, kLargestCluster = 16;  // blocks, of CUDA

Code set_max_dynamic_shared(KernelState& kernel, int bytes) {
  const std::uint64_t most = value_of(recorder().device(), kSharedPerBlockOptin);
  if (bytes < 0 || kernel.kernel.static_shared + static_cast<std::uint64_t>(bytes) > most)
    return recorder().failed(kInvalidValue);
  kernel.max_dynamic_shared = static_cast<std::uint32_t>(bytes);
  return kSuccess;
}

std::uint32_t resident_blocks(const KernelState& kernel, std::uint64_t threads, std::uint64_t shared) {
  return blocks_per_multiprocessor(recorder().device(), kernel.kernel, threads, shared, kernel.carveout);
}

/// The number of blocks in the launch's cluster; 1 without a cluster.
std::uint64_t cluster_blocks(const AbiLaunchConfig& config) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const AbiDim3& cluster = config.attributes[i].value.cluster;
    if (config.attributes[i].id == kAttributeClusterDimension)
      return std::uint64_t{cluster.x} * cluster.y * cluster.z;
  }
  return 1;
}

std::uint32_t resident_blocks(const KernelState& kernel, const AbiLaunchConfig& config) {
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  return resident_blocks(kernel, threads, config.dynamic_shared);
}

}  // namespace

KERNELSMITH_FUNCTION(FuncSetAttribute)(const void* host, int attribute, int value) {
  KernelState* const kernel = recorder().kernel(host, KERNELSMITH_PREFIX "FuncSetAttribute");
  if (kernel == nullptr) return kNotSupported;
  switch (attribute) {
    case kFunctionMaxDynamicShared:
      return set_max_dynamic_shared(*kernel, value);
    case kFunctionCarveout:
      if (value < -1 || value > 100) return recorder().failed(kInvalidValue);
      kernel->carveout = value;
      return kSuccess;
    case kFunctionNonPortableCluster:
      kernel->nonportable_cluster = value != 0;
      return kSuccess;
    case kFunctionClusterMustBeSet:
    case kFunctionClusterScheduling:  // only affects the speed
      return kSuccess;
    default:
      return recorder().refuse(KERNELSMITH_PREFIX "FuncSetAttribute",
                               "a plan cannot hold function attribute " + std::to_string(attribute) +
                                   ": give cluster sizes with __cluster_dims__ or "
                                   "at the launch (" KERNELSMITH_PREFIX "LaunchKernelEx)");
  }
}

KERNELSMITH_FUNCTION(FuncGetName)(const char** name, const void* host) {
  const KernelState* const kernel = recorder().kernel(host, KERNELSMITH_PREFIX "FuncGetName");
  if (kernel == nullptr) return kNotSupported;
  *name = kernel->kernel.name.c_str();
  return kSuccess;
}

// Preferences have no effect on current devices.
KERNELSMITH_FUNCTION(FuncSetCacheConfig)(const void*, int) { return kSuccess; }
KERNELSMITH_FUNCTION(FuncSetSharedMemConfig)(const void*, int) { return kSuccess; }

KERNELSMITH_FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int* blocks, const void* host, int threads, std::size_t shared, unsigned) {
  const KernelState* const kernel =
      recorder().kernel(host, KERNELSMITH_PREFIX "OccupancyMaxActiveBlocksPerMultiprocessor");
  if (kernel == nullptr) return kNotSupported;
  if (threads <= 0) return recorder().failed(kInvalidValue);
  *blocks = static_cast<int>(resident_blocks(*kernel, static_cast<std::uint64_t>(threads), shared));
  return kSuccess;
}
KERNELSMITH_FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessor)
(int* blocks, const void* host, int threads, std::size_t shared) {
  return KERNELSMITH_RUNTIME(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(blocks, host, threads,
                                                                                 shared, 0);
}

KERNELSMITH_FUNCTION(OccupancyAvailableDynamicSMemPerBlock)
(std::size_t* shared, const void* host, int blocks, int) {
  const KernelState* const kernel =
      recorder().kernel(host, KERNELSMITH_PREFIX "OccupancyAvailableDynamicSMemPerBlock");
  if (kernel == nullptr) return kNotSupported;
  if (blocks <= 0) return recorder().failed(kInvalidValue);
  *shared = dynamic_shared_for(recorder().device(), kernel->kernel, static_cast<std::uint64_t>(blocks));
  return kSuccess;
}

KERNELSMITH_FUNCTION(OccupancyMaxPotentialClusterSize)
(int* blocks, const void* host, const AbiLaunchConfig* config) {
  const KernelState* const kernel =
      recorder().kernel(host, KERNELSMITH_PREFIX "OccupancyMaxPotentialClusterSize");
  if (kernel == nullptr) return kNotSupported;
  const bool fits = resident_blocks(*kernel, *config) > 0;
  *blocks = !fits ? 0 : kernel->nonportable_cluster ? kLargestCluster : kPortableCluster;
  return kSuccess;
}

KERNELSMITH_FUNCTION(OccupancyMaxActiveClusters)
(int* clusters, const void* host, const AbiLaunchConfig* config) {
  const KernelState* const kernel = recorder().kernel(host, KERNELSMITH_PREFIX "OccupancyMaxActiveClusters");
  if (kernel == nullptr) return kNotSupported;
  *clusters = static_cast<int>(
      active_clusters(recorder().device(), resident_blocks(*kernel, *config), cluster_blocks(*config)));
  return kSuccess;
}
// NOLINTEND(readability-identifier-naming)
