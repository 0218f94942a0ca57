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

KERNELSMITH_FUNCTION(DeviceGetAttribute)(int* value, int attribute, int device) {
  const auto& attributes = recorder().device().attributes;
  const auto found = attributes.find(attribute_of(attribute));
  *value = found == attributes.end() ? 0 : found->second;
  return check_device(device);
}
KERNELSMITH_FUNCTION(GetDevice)(int* device) { return answer(device, 0); }
KERNELSMITH_FUNCTION(SetDevice)(int device) { return check_device(device); }
KERNELSMITH_FUNCTION(InitDevice)(int device, unsigned, unsigned) { return check_device(device); }
KERNELSMITH_FUNCTION(GetDeviceCount)(int* count) { return answer(count, 1); }
KERNELSMITH_FUNCTION(SetDeviceFlags)(unsigned) { return kSuccess; }
KERNELSMITH_FUNCTION(GetDeviceFlags)(unsigned* flags) { return answer(flags, 0); }
KERNELSMITH_FUNCTION(DriverGetVersion)(int* version) {
  return answer(version, recorder().device().driver_version);
}
KERNELSMITH_ALIAS(KERNELSMITH_RUNTIME(RuntimeGetVersion), KERNELSMITH_RUNTIME(DriverGetVersion));
KERNELSMITH_FUNCTION(DeviceGetStreamPriorityRange)(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;  // as on current devices
  return kSuccess;
}
KERNELSMITH_FUNCTION(DeviceCanAccessPeer)(int* can, int, int) { return answer(can, 0); }

// The driver's functions.
KERNELSMITH_DRIVER_FUNCTION(Init)(unsigned) { return kSuccess; }
KERNELSMITH_DRIVER_FUNCTION(DeviceGet)(int* device, int index) {
  *device = 0;
  return index == 0 ? kSuccess : kInvalidDevice;
}
KERNELSMITH_DRIVER_FUNCTION(DeviceGetName)(char* name, int length, int device) {
  if (length <= 0 || device != 0) return kInvalidValue;
  name[recorder().device().name.copy(name, static_cast<std::size_t>(length) - 1)] = '\0';
  return kSuccess;
}

// Limits and caches only affect the speed, so they are omitted.
KERNELSMITH_FUNCTION(DeviceSetLimit)(int limit, std::size_t) {
  constexpr int kStackSize = 0, kHeapSize = 2, kSyncDepth = 3, kPendingLaunches = 4, kPersistingL2 = 6;
  if (limit == kStackSize || limit == kHeapSize || limit == kSyncDepth || limit == kPendingLaunches)
    return recorder().refuse(KERNELSMITH_PREFIX "DeviceSetLimit",
                             "a plan cannot hold limits of the device's stack, heap or launches: kernels run "
                             "with the driver's own (use a workspace in place of device-side malloc)");
  if (limit == kPersistingL2) recorder().leave_out(kPersistence);
  return kSuccess;
}
KERNELSMITH_FUNCTION(DeviceGetLimit)(std::size_t* value, int limit) {
  constexpr std::size_t kDefaults[] = {
      1024, 7340032, 8388608, 2, 2048, 64, 0};  // CUDA's; other vendors' limits have the same order
  if (limit < 0 || limit >= static_cast<int>(std::size(kDefaults))) return recorder().failed(kInvalidValue);
  *value = kDefaults[limit];
  return kSuccess;
}
KERNELSMITH_FUNCTION(DeviceSetCacheConfig)(int) { return kSuccess; }
KERNELSMITH_FUNCTION(DeviceGetCacheConfig)(int* config) { return answer(config, 0); }
KERNELSMITH_FUNCTION(DeviceSetSharedMemConfig)(int) { return kSuccess; }
KERNELSMITH_FUNCTION(CtxResetPersistingL2Cache)() { return kSuccess; }

// Marks for a profiler are ignored, because there is no profiler.
KERNELSMITH_FUNCTION(ProfilerStart)() { return kSuccess; }
KERNELSMITH_FUNCTION(ProfilerStop)() { return kSuccess; }

// Errors.
KERNELSMITH_FUNCTION(GetLastError)() { return recorder().take_last_error(); }
KERNELSMITH_FUNCTION(PeekAtLastError)() { return recorder().last_error(); }
KERNELSMITH_RECORDED const char* KERNELSMITH_RUNTIME(GetErrorName)(int code) { return describe(code).name; }
KERNELSMITH_RECORDED const char* KERNELSMITH_RUNTIME(GetErrorString)(int code) { return describe(code).text; }
// NOLINTEND(readability-identifier-naming)
