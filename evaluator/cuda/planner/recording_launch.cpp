// The recording runtime's launches, and functions for the code that compilers generate for kernels.
#include <vector>

#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/refusals.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the runtime's own names
using namespace kernelsmith::cuda::planner;

namespace {

/// The configuration of <<<grid, block, shared, stream>>>, between PushCallConfiguration and
/// PopCallConfiguration.
struct Configuration {
  AbiDim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
};

std::vector<Configuration>& configurations() {
  static std::vector<Configuration> pushed;
  return pushed;
}

Code launch(const void* host, const AbiDim3& grid, const AbiDim3& block, void** arguments, std::size_t shared,
            void* stream, bool cooperative, const char* function) {
  LaunchWish wish;
  wish.grid = grid;
  wish.block = block;
  wish.arguments = arguments;
  wish.dynamic_shared = shared;
  wish.stream = stream;
  wish.cooperative = cooperative;
  return recorder().launch(host, wish, function);
}

/// Returns false if the attribute changes the launch's behaviour in a way that a plan cannot represent.
/// Attributes that only affect the speed (priority, policies, windows, domains) are omitted.
bool apply(const AbiLaunchAttribute& attribute, LaunchWish& wish) {
  const AbiDim3& cluster = attribute.value.cluster;
  switch (attribute.id) {
    case kAttributeCooperative:
      wish.cooperative = attribute.value.number != 0;
      return true;
    case kAttributeClusterDimension:
      wish.cluster = {{cluster.x, cluster.y, cluster.z}};
      return true;
    case kAttributeProgrammaticStreamSerialization:
      wish.programmatic = attribute.value.number != 0;
      return true;
    case kAttributeSharedMemoryCarveout:
      wish.carveout = attribute.value.number;
      return true;
    case kAttributeAccessPolicyWindow:
      recorder().leave_out(kPersistence);
      return true;
    case kAttributePriority:
      recorder().leave_out(kStreamPriority);
      return true;
    case kAttributeProgrammaticEvent:
    case kAttributeLaunchCompletionEvent:
    case kAttributeDeviceUpdatableNode:
      return false;
    default:
      return attribute.id >= 0 && attribute.id <= kLastKnownAttribute;
  }
}

}  // namespace

KERNELSMITH_RECORDED void** KERNELSMITH_INTERNAL(RegisterFatBinary)(void*) {
  static void* handle = nullptr;
  return &handle;
}
KERNELSMITH_RECORDED void KERNELSMITH_INTERNAL(RegisterFatBinaryEnd)(void**) {}
KERNELSMITH_RECORDED void KERNELSMITH_INTERNAL(UnregisterFatBinary)(void**) {}
KERNELSMITH_RECORDED char KERNELSMITH_INTERNAL(InitModule)(void**) { return 1; }

KERNELSMITH_RECORDED void KERNELSMITH_INTERNAL(RegisterFunction)(void**, const char* host, char*,
                                                                 const char* name, int, void*, void*, void*,
                                                                 void*, int*) {
  recorder().register_kernel(host, name);
}
KERNELSMITH_RECORDED void KERNELSMITH_INTERNAL(RegisterVar)(void**, char* host, char*, const char* name, int,
                                                            std::size_t bytes, int, int) {
  recorder().register_variable(host, name, bytes);
}

KERNELSMITH_RECORDED unsigned KERNELSMITH_INTERNAL(PushCallConfiguration)(AbiDim3 grid, AbiDim3 block,
                                                                          std::size_t shared, void* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}
KERNELSMITH_RECORDED int KERNELSMITH_INTERNAL(PopCallConfiguration)(AbiDim3* grid, AbiDim3* block,
                                                                    std::size_t* shared, void* stream) {
  if (configurations().empty()) return recorder().failed(kInvalidConfiguration);
  const Configuration latest = configurations().back();
  configurations().pop_back();
  *grid = latest.grid;
  *block = latest.block;
  *shared = latest.dynamic_shared;
  *static_cast<void**>(stream) = latest.stream;
  return kSuccess;
}

/// A cudaKernel_t is the kernel's host address here.
KERNELSMITH_RECORDED int KERNELSMITH_INTERNAL(GetKernel)(const void** kernel, const void* host) {
  return answer(kernel, host);
}
KERNELSMITH_FUNCTION(GetKernel)(const void** kernel, const void* host) { return answer(kernel, host); }
KERNELSMITH_RECORDED int KERNELSMITH_INTERNAL(LaunchKernel)(const void* kernel, AbiDim3 grid, AbiDim3 block,
                                                            void** arguments, std::size_t shared,
                                                            void* stream) {
  return launch(kernel, grid, block, arguments, shared, stream, false, "<<<>>>");
}
KERNELSMITH_ALIAS(KERNELSMITH_INTERNAL(LaunchKernel_ptsz), KERNELSMITH_INTERNAL(LaunchKernel));

KERNELSMITH_FUNCTION(LaunchKernel)
(const void* host, AbiDim3 grid, AbiDim3 block, void** arguments, std::size_t shared, void* stream) {
  return launch(host, grid, block, arguments, shared, stream, false, KERNELSMITH_PREFIX "LaunchKernel");
}

KERNELSMITH_FUNCTION(LaunchCooperativeKernel)
(const void* host, AbiDim3 grid, AbiDim3 block, void** arguments, std::size_t shared, void* stream) {
  return launch(host, grid, block, arguments, shared, stream, true,
                KERNELSMITH_PREFIX "LaunchCooperativeKernel");
}

KERNELSMITH_FUNCTION(LaunchKernelExC)(const AbiLaunchConfig* config, const void* host, void** arguments) {
  LaunchWish wish;
  wish.grid = config->grid;
  wish.block = config->block;
  wish.dynamic_shared = config->dynamic_shared;
  wish.stream = config->stream;
  wish.arguments = arguments;
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (!apply(config->attributes[i], wish))
      return recorder().refuse(KERNELSMITH_PREFIX "LaunchKernelEx",
                               "a plan cannot hold launch attribute " +
                                   std::to_string(config->attributes[i].id) +
                                   ": it can hold cluster dimension, cooperative, programmatic stream "
                                   "serialization and the shared memory carveout");
  return recorder().launch(host, wish, KERNELSMITH_PREFIX "LaunchKernelEx");
}

KERNELSMITH_EACH(KERNELSMITH_PTSZ, LaunchKernel, LaunchCooperativeKernel, LaunchKernelExC)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
