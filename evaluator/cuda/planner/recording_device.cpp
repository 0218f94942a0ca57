// Recorded in place of the CUDA runtime: questions about the device, and errors. There is one device, and its
// facts are those that the judge gave.
#include "planner/recorder.hpp"
#include "planner/refusals.hpp"

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names
using namespace kernelsmith::cuda::planner;

namespace {

struct ErrorText {
  Code code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {kSuccess, "cudaSuccess", "no error"},
    {kInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {kMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {kInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {kInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {kSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {kNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

constexpr ErrorText kUnknown{kInvalidValue, "cudaErrorUnknown", "unknown error"};

const ErrorText& describe(int code) {
  for (const ErrorText& error : kErrors)
    if (error.code == code) return error;
  return kUnknown;
}

Code check_device(int device) { return device == 0 ? kSuccess : recorder().failed(kInvalidDevice); }

}  // namespace

// For the generated shim, which knows the layout of the toolkit's cudaDeviceProp.
KERNELSMITH_RECORDED int kernelsmith_device_attribute(int attribute) {
  const auto& attributes = recorder().device().attributes;
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? 0 : found->second;
}
KERNELSMITH_RECORDED const char* kernelsmith_device_name() { return recorder().device().name.c_str(); }
KERNELSMITH_RECORDED unsigned long long kernelsmith_device_memory() {
  return recorder().device().memory_bytes;
}

KERNELSMITH_RECORDED int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  *value = kernelsmith_device_attribute(attribute);
  return check_device(device);
}
KERNELSMITH_RECORDED int cudaGetDevice(int* device) {
  *device = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaSetDevice(int device) { return check_device(device); }
KERNELSMITH_RECORDED int cudaInitDevice(int device, unsigned, unsigned) { return check_device(device); }
KERNELSMITH_RECORDED int cudaGetDeviceCount(int* count) {
  *count = 1;
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaSetDeviceFlags(unsigned) { return kSuccess; }
KERNELSMITH_RECORDED int cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaDriverGetVersion(int* version) {
  *version = recorder().device().driver_version;
  return kSuccess;
}
KERNELSMITH_ALIAS(cudaRuntimeGetVersion, cudaDriverGetVersion);
KERNELSMITH_RECORDED int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;  // as on devices of today
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return kSuccess;
}

// Limits and caches: what only changes speed is left out.
KERNELSMITH_RECORDED int cudaDeviceSetLimit(int limit, std::size_t) {
  constexpr int kStackSize = 0, kHeapSize = 2, kSyncDepth = 3, kPendingLaunches = 4, kPersistingL2 = 6;
  if (limit == kStackSize || limit == kHeapSize || limit == kSyncDepth || limit == kPendingLaunches)
    return recorder().refuse("cudaDeviceSetLimit",
                             "a plan cannot hold limits of the device's stack, heap or launches: kernels run "
                             "with CUDA's own (use a workspace in place of device-side malloc)");
  if (limit == kPersistingL2) recorder().leave_out(kPersistence);
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaDeviceGetLimit(std::size_t* value, int limit) {
  constexpr std::size_t kDefaults[] = {1024, 7340032, 8388608, 2, 2048, 64, 0};  // CUDA's own
  if (limit < 0 || limit >= static_cast<int>(std::size(kDefaults))) return recorder().failed(kInvalidValue);
  *value = kDefaults[limit];
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaDeviceSetCacheConfig(int) { return kSuccess; }
KERNELSMITH_RECORDED int cudaDeviceGetCacheConfig(int* config) {
  *config = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int cudaDeviceSetSharedMemConfig(int) { return kSuccess; }
KERNELSMITH_RECORDED int cudaCtxResetPersistingL2Cache() { return kSuccess; }

// Marks for a profiler: there is none.
KERNELSMITH_RECORDED int cudaProfilerStart() { return kSuccess; }
KERNELSMITH_RECORDED int cudaProfilerStop() { return kSuccess; }

// Errors.
KERNELSMITH_RECORDED int cudaGetLastError() { return recorder().take_last_error(); }
KERNELSMITH_RECORDED int cudaPeekAtLastError() { return recorder().last_error(); }
KERNELSMITH_RECORDED const char* cudaGetErrorName(int code) { return describe(code).name; }
KERNELSMITH_RECORDED const char* cudaGetErrorString(int code) { return describe(code).text; }
// NOLINTEND(readability-identifier-naming)
