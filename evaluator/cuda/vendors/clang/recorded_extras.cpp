// Functions that these runtimes have in addition to CUDA's, and those that depend on the layout of their
// structures.
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/recording_refused.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtimes' own names
using namespace kernelsmith::cuda::planner;

extern "C" int KERNELSMITH_RUNTIME(HostAlloc)(void** pointer, std::size_t bytes, unsigned flags);
extern "C" int KERNELSMITH_RUNTIME(FreeHost)(void* pointer);
extern "C" int KERNELSMITH_RUNTIME(MemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind,
                                                void* stream);

KERNELSMITH_FUNCTION(HostMalloc)(void** pointer, std::size_t bytes, unsigned flags) {
  return KERNELSMITH_RUNTIME(HostAlloc)(pointer, bytes, flags);
}
KERNELSMITH_FUNCTION(HostFree)(void* pointer) { return KERNELSMITH_RUNTIME(FreeHost)(pointer); }
KERNELSMITH_FUNCTION(MemcpyWithStream)
(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  return KERNELSMITH_RUNTIME(MemcpyAsync)(to, from, bytes, kind, stream);
}
KERNELSMITH_FUNCTION(MemcpyDtoDAsync)(void* to, void* from, std::size_t bytes, void* stream) {
  return KERNELSMITH_RUNTIME(MemcpyAsync)(to, from, bytes, kDeviceToDevice, stream);
}
KERNELSMITH_FUNCTION(DeviceTotalMem)(std::size_t* bytes, int device) {
  *bytes = recorder().device().memory_bytes;
  return device == 0 ? kSuccess : kInvalidDevice;
}

KERNELSMITH_REFUSED(FuncGetAttributes, FuncGetAttribute, ModuleLoad, ModuleLoadData, ModuleGetFunction,
                    ModuleLaunchKernel, ModuleLaunchKernelEx, ModuleUnload)
// NOLINTEND(readability-identifier-naming)
