// The recording runtime's queries about the device, and errors. There is one device, with the facts from the
// judge.
#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/refusals.hpp"

// NOLINTBEGIN(readability-identifier-naming): the runtime's own names
using namespace kernelsmith::cuda::planner;

namespace {

struct ErrorText {
  Code code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {kSuccess, KERNELSMITH_PREFIX "Success", "no error"},
    {kInvalidValue, KERNELSMITH_PREFIX "ErrorInvalidValue", "invalid argument"},
    {kMemoryAllocation, KERNELSMITH_PREFIX "ErrorMemoryAllocation", "out of memory"},
    {kInvalidConfiguration, KERNELSMITH_PREFIX "ErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidSymbol, KERNELSMITH_PREFIX "ErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDeviceFunction, KERNELSMITH_PREFIX "ErrorInvalidDeviceFunction", "invalid device function"},
    {kInvalidDevice, KERNELSMITH_PREFIX "ErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidResourceHandle, KERNELSMITH_PREFIX "ErrorInvalidResourceHandle", "invalid resource handle"},
    {kSymbolNotFound, KERNELSMITH_PREFIX "ErrorSymbolNotFound", "named symbol not found"},
    {kNotSupported, KERNELSMITH_PREFIX "ErrorNotSupported", "operation not supported"},
};

constexpr ErrorText kUnknown{kInvalidValue, KERNELSMITH_PREFIX "ErrorUnknown", "unknown error"};

const ErrorText& describe(int code) {
  for (const ErrorText& error : kErrors)
    if (error.code == code) return error;
  return kUnknown;
}

Code check_device(int device) { return device == 0 ? kSuccess : recorder().failed(kInvalidDevice); }

}  // namespace

// For the generated shim, which knows the layout of the toolkit's structure of properties.
KERNELSMITH_RECORDED int kernelsmith_device_attribute(int attribute) {
  const auto& attributes = recorder().device().attributes;
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? 0 : found->second;
}
KERNELSMITH_RECORDED const char* kernelsmith_device_name() { return recorder().device().name.c_str(); }
KERNELSMITH_RECORDED unsigned long long kernelsmith_device_memory() {
  return recorder().device().memory_bytes;
}

KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGetAttribute)(int* value, int attribute, int device) {
  *value = kernelsmith_device_attribute(attribute_of(attribute));
  return check_device(device);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(GetDevice)(int* device) {
  *device = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(SetDevice)(int device) { return check_device(device); }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(InitDevice)(int device, unsigned, unsigned) {
  return check_device(device);
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(GetDeviceCount)(int* count) {
  *count = 1;
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(SetDeviceFlags)(unsigned) { return kSuccess; }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(GetDeviceFlags)(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DriverGetVersion)(int* version) {
  *version = recorder().device().driver_version;
  return kSuccess;
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(RuntimeGetVersion), KERNELSMITH_RUNTIME(DriverGetVersion));
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGetStreamPriorityRange)(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;  // as on current devices
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceCanAccessPeer)(int* can, int, int) {
  *can = 0;
  return kSuccess;
}

// Limits and caches only affect the speed, so they are omitted.
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceSetLimit)(int limit, std::size_t) {
  constexpr int kStackSize = 0, kHeapSize = 2, kSyncDepth = 3, kPendingLaunches = 4, kPersistingL2 = 6;
  if (limit == kStackSize || limit == kHeapSize || limit == kSyncDepth || limit == kPendingLaunches)
    return recorder().refuse(KERNELSMITH_PREFIX "DeviceSetLimit",
                             "a plan cannot hold limits of the device's stack, heap or launches: kernels run "
                             "with the driver's own (use a workspace in place of device-side malloc)");
  if (limit == kPersistingL2) recorder().leave_out(kPersistence);
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGetLimit)(std::size_t* value, int limit) {
  constexpr std::size_t kDefaults[] = {1024, 7340032, 8388608, 2,
                                       2048, 64,      0};  // CUDA's; the others have the same order
  if (limit < 0 || limit >= static_cast<int>(std::size(kDefaults))) return recorder().failed(kInvalidValue);
  *value = kDefaults[limit];
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceSetCacheConfig)(int) { return kSuccess; }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceGetCacheConfig)(int* config) {
  *config = 0;
  return kSuccess;
}
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(DeviceSetSharedMemConfig)(int) { return kSuccess; }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(CtxResetPersistingL2Cache)() { return kSuccess; }

// Marks for a profiler are ignored: there is none.
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(ProfilerStart)() { return kSuccess; }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(ProfilerStop)() { return kSuccess; }

// Errors.
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(GetLastError)() { return recorder().take_last_error(); }
KERNELSMITH_RECORDED int KERNELSMITH_RUNTIME(PeekAtLastError)() { return recorder().last_error(); }
KERNELSMITH_RECORDED const char* KERNELSMITH_RUNTIME(GetErrorName)(int code) { return describe(code).name; }
KERNELSMITH_RECORDED const char* KERNELSMITH_RUNTIME(GetErrorString)(int code) { return describe(code).text; }
// NOLINTEND(readability-identifier-naming)
