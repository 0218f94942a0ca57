// The recording runtime's functions that depend on the layout of CUDA's structures.
#include <algorithm>

#include "planner/occupancy.hpp"
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names
using namespace kernelsmith::cuda::planner;

namespace {

/// cudaFuncAttributes, with room for members of later versions.
struct AbiFunctionAttributes {
  std::size_t shared, constant, local;
  int max_threads, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared, carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
  int cluster_scheduling, nonportable_cluster;
};

int max_dynamic_shared(const KernelState& kernel) {
  if (kernel.max_dynamic_shared > 0) return static_cast<int>(kernel.max_dynamic_shared);
  const std::uint64_t usual = value_of(recorder().device(), kSharedPerBlock);
  return static_cast<int>(usual - std::min<std::uint64_t>(usual, kernel.kernel.static_shared));
}

}  // namespace

KERNELSMITH_RECORDED int cudaFuncGetAttributes(AbiFunctionAttributes* attributes, const void* host) {
  const KernelState* const kernel = recorder().kernel(host, "cudaFuncGetAttributes");
  if (kernel == nullptr) return kNotSupported;
  const int arch = static_cast<int>(recorder().device().arch);
  *attributes = {};
  attributes->shared = kernel->kernel.static_shared;
  attributes->local = kernel->kernel.local;
  attributes->max_threads = static_cast<int>(max_threads(recorder().device(), kernel->kernel));
  attributes->registers = static_cast<int>(kernel->kernel.registers);
  attributes->ptx_version = attributes->binary_version = arch;
  attributes->max_dynamic_shared = max_dynamic_shared(*kernel);
  attributes->carveout = kernel->carveout;
  attributes->nonportable_cluster = kernel->nonportable_cluster ? 1 : 0;
  return kSuccess;
}
// NOLINTEND(readability-identifier-naming)
