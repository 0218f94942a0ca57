// Functions that these runtimes have in addition to CUDA's, and those that depend on the layout of their
// structures.
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/recording_refused.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtimes' own names
using namespace kernelsmith::cuda::planner;
namespace plan = kernelsmith::plan;

extern "C" int KERNELSMITH_RUNTIME(HostAlloc)(void** pointer, std::size_t bytes, unsigned flags);
extern "C" int KERNELSMITH_RUNTIME(FreeHost)(void* pointer);
extern "C" int KERNELSMITH_RUNTIME(MemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind,
                                                void* stream);

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(Init)(unsigned) { return kSuccess; }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(HostMalloc)(void** pointer, std::size_t bytes, unsigned flags) {
  return KERNELSMITH_RUNTIME(HostAlloc)(pointer, bytes, flags);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(HostFree)(void* pointer) {
  return KERNELSMITH_RUNTIME(FreeHost)(pointer);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(MemcpyWithStream)(void* to, const void* from, std::size_t bytes,
                                                               int kind, void* stream) {
  return KERNELSMITH_RUNTIME(MemcpyAsync)(to, from, bytes, kind, stream);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(MemcpyDtoDAsync)(void* to, void* from, std::size_t bytes,
                                                              void* stream) {
  return KERNELSMITH_RUNTIME(MemcpyAsync)(to, from, bytes, kDeviceToDevice, stream);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(MemsetD8Async)(std::uint64_t to, unsigned char value,
                                                            std::size_t count, void* stream) {
  return recorder().add(stream, plan::Memset{to, value, 1, count}, KERNELSMITH_PREFIX "MemsetD8Async");
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(MemsetD16Async)(std::uint64_t to, unsigned short value,
                                                             std::size_t count, void* stream) {
  return recorder().add(stream, plan::Memset{to, value, 2, count}, KERNELSMITH_PREFIX "MemsetD16Async");
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(MemsetD32Async)(std::uint64_t to, int value, std::size_t count,
                                                             void* stream) {
  return recorder().add(stream, plan::Memset{to, static_cast<std::uint32_t>(value), 4, count},
                        KERNELSMITH_PREFIX "MemsetD32Async");
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGetName)(char* name, int length, int device) {
  if (length <= 0 || device != 0) return kInvalidValue;
  name[recorder().device().name.copy(name, static_cast<std::size_t>(length) - 1)] = '\0';
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceTotalMem)(std::size_t* bytes, int device) {
  *bytes = recorder().device().memory_bytes;
  return device == 0 ? kSuccess : kInvalidDevice;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGet)(int* device, int index) {
  *device = 0;
  return index == 0 ? kSuccess : kInvalidDevice;
}

#define KERNELSMITH_REFUSED(name) KERNELSMITH_REFUSED_AS(KERNELSMITH_RUNTIME(name), KERNELSMITH_PREFIX #name)
KERNELSMITH_REFUSED(FuncGetAttributes)
KERNELSMITH_REFUSED(FuncGetAttribute)
KERNELSMITH_REFUSED(ModuleLoad)
KERNELSMITH_REFUSED(ModuleLoadData)
KERNELSMITH_REFUSED(ModuleGetFunction)
KERNELSMITH_REFUSED(ModuleLaunchKernel)
KERNELSMITH_REFUSED(ModuleLaunchKernelEx)
KERNELSMITH_REFUSED(ModuleUnload)
// NOLINTEND(readability-identifier-naming)
