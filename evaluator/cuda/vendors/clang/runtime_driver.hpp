// The driver of a vendor whose runtime is also its driver. It has CUDA's functions with another prefix, and a
// current device instead of contexts.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dlfcn.h>

#include "device/driver.hpp"
#include "vendors/gpu_vendor.hpp"

/// The names of DriverNames that such a runtime exports, as designated initialisers.
#define KERNELSMITH_RUNTIME_DRIVER(PREFIX, HOST_ALLOCATE, HOST_FREE)                                        \
  .init = PREFIX "Init", .driver_version = PREFIX "DriverGetVersion",                                       \
  .device_count = PREFIX "GetDeviceCount", .device_get = PREFIX "DeviceGet",                                \
  .device_name = PREFIX "DeviceGetName", .device_bus_id = PREFIX "DeviceGetPCIBusId",                       \
  .device_memory = PREFIX "DeviceTotalMem", .device_attribute = PREFIX "DeviceGetAttribute",                \
  .context_synchronize = PREFIX "DeviceSynchronize", .memory_info = PREFIX "MemGetInfo",                    \
  .memory_allocate = PREFIX "Malloc", .memory_free = PREFIX "Free", .host_allocate = PREFIX HOST_ALLOCATE,  \
  .host_free = PREFIX HOST_FREE, .host_device_pointer = PREFIX "HostGetDevicePointer",                      \
  .set_bytes = PREFIX "MemsetD8Async", .set_halves = PREFIX "MemsetD16Async",                               \
  .set_words = PREFIX "MemsetD32Async", .granularity = PREFIX "MemGetAllocationGranularity",                \
  .memory_create = PREFIX "MemCreate", .memory_release = PREFIX "MemRelease",                               \
  .address_reserve = PREFIX "MemAddressReserve", .address_free = PREFIX "MemAddressFree",                   \
  .memory_map = PREFIX "MemMap", .memory_unmap = PREFIX "MemUnmap", .set_access = PREFIX "MemSetAccess",    \
  .memory_export = PREFIX "MemExportToShareableHandle",                                                     \
  .memory_import = PREFIX "MemImportFromShareableHandle", .stream_create = PREFIX "StreamCreateWithFlags",  \
  .stream_destroy = PREFIX "StreamDestroy", .stream_synchronize = PREFIX "StreamSynchronize",               \
  .stream_wait = PREFIX "StreamWaitEvent", .capture_begin = PREFIX "StreamBeginCapture",                    \
  .capture_end = PREFIX "StreamEndCapture", .event_create = PREFIX "EventCreateWithFlags",                  \
  .event_destroy = PREFIX "EventDestroy", .event_record = PREFIX "EventRecord",                             \
  .event_query = PREFIX "EventQuery", .event_elapsed = PREFIX "EventElapsedTime",                           \
  .module_load = PREFIX "ModuleLoadData", .module_unload = PREFIX "ModuleUnload",                           \
  .module_function = PREFIX "ModuleGetFunction", .module_global = PREFIX "ModuleGetGlobal",                 \
  .graph_create = PREFIX "GraphCreate", .graph_destroy = PREFIX "GraphDestroy",                             \
  .graph_add_child = PREFIX "GraphAddChildGraphNode", .graph_add_empty = PREFIX "GraphAddEmptyNode",        \
  .graph_instantiate = PREFIX "GraphInstantiateWithFlags", .graph_exec_destroy = PREFIX "GraphExecDestroy", \
  .graph_upload = PREFIX "GraphUpload", .graph_launch = PREFIX "GraphLaunch"

namespace kernelsmith::cuda {

/// Adapters for runtime functions whose signature differs from Driver's. `Vendor` has their names:
/// kErrorString, kErrorName, kSetDevice, kCopy, kLaunch, kLaunchCooperative (with kExtendedLaunch it takes a
/// LaunchConfig). Each vendor has its own adapters, which adapt() fills once.
template <class Vendor>
class RuntimeDriver {
 public:
  /// DriverTable::adapt
  static const char* adapt(Driver& driver, void* library) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr && missing == nullptr) missing = name;
    };
    find(error_string, Vendor::kErrorString);
    find(error_name, Vendor::kErrorName);
    find(set_device, Vendor::kSetDevice);
    find(copy, Vendor::kCopy);
    find(plain_launch, Vendor::kLaunch);
    if constexpr (Vendor::kExtendedLaunch)
      find(extended_launch, Vendor::kLaunchCooperative);
    else
      find(cooperative_launch, Vendor::kLaunchCooperative);
    give(driver.error_string, Vendor::kErrorString, [](abi::Code code, const char** text) {
      *text = error_string(code);
      return abi::kSuccess;
    });
    give(driver.error_name, Vendor::kErrorName, [](abi::Code code, const char** text) {
      *text = error_name(code);
      return abi::kSuccess;
    });
    give(driver.context_create, Vendor::kSetDevice,
         [](abi::Context* context, unsigned, abi::DeviceNumber number) {
           *context = context_of(number);
           return set_device(number);
         });
    give(driver.context_destroy, Vendor::kSetDevice, [](abi::Context) { return abi::kSuccess; });
    give(driver.context_push, Vendor::kSetDevice,
         [](abi::Context context) { return set_device(number_of(context)); });
    give(driver.context_pop, Vendor::kSetDevice, [](abi::Context*) { return abi::kSuccess; });
    give(driver.copy_to_device, Vendor::kCopy,
         [](abi::Address to, const void* from, std::size_t bytes, abi::Stream stream) {
           return copy(pointer(to), from, bytes, kToDevice, stream);
         });
    give(driver.copy_to_host, Vendor::kCopy,
         [](void* to, abi::Address from, std::size_t bytes, abi::Stream stream) {
           return copy(to, pointer(from), bytes, kToHost, stream);
         });
    give(driver.copy_on_device, Vendor::kCopy,
         [](abi::Address to, abi::Address from, std::size_t bytes, abi::Stream stream) {
           return copy(pointer(to), pointer(from), bytes, kOnDevice, stream);
         });
    // A kernel can use all its shared memory without opt-in, and nothing else can be set.
    give(driver.function_set, Vendor::kLaunch, [](abi::Function, int attribute, int) {
      return attribute == abi::kMaxDynamicShared || attribute == abi::kSharedCarveout ? abi::kSuccess
                                                                                      : abi::kNotSupported;
    });
    give(driver.launch, Vendor::kLaunch, launch);
    return missing;
  }

 private:
  static constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3;

  template <class... Arguments, class Adapter>
  static void give(DriverFunction<Arguments...>& function, const char* name, Adapter adapter) {
    function.name = name;
    function.pointer = adapter;
  }
  static abi::Context context_of(abi::DeviceNumber number) {
    return reinterpret_cast<abi::Context>(static_cast<std::uintptr_t>(number) + 1);  // NOLINT: a number
  }
  static abi::DeviceNumber number_of(abi::Context context) {
    return static_cast<abi::DeviceNumber>(reinterpret_cast<std::uintptr_t>(context) - 1);
  }
  static void* pointer(abi::Address address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): a device address
  }

  static abi::Code launch(const abi::LaunchConfig* config, abi::Function function, void** parameters,
                          void**) {
    bool cooperative = false;
    for (unsigned i = 0; i < config->attribute_count; ++i) {
      const abi::LaunchAttribute& attribute = config->attributes[i];
      if (attribute.id != abi::kCooperative) return abi::kNotSupported;
      cooperative = attribute.value.cooperative != 0;
    }
    const auto& grid = config->grid;
    const auto& block = config->block;
    if (cooperative && extended_launch != nullptr)
      return extended_launch(config, function, parameters, nullptr);
    if (cooperative)
      return cooperative_launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                config->shared_bytes, config->stream, parameters);
    return plain_launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                        config->shared_bytes, config->stream, parameters, nullptr);
  }

  static inline const char* (*error_string)(abi::Code) = nullptr;
  static inline const char* (*error_name)(abi::Code) = nullptr;
  static inline abi::Code (*set_device)(int) = nullptr;
  static inline abi::Code (*copy)(void*, const void*, std::size_t, int, abi::Stream) = nullptr;
  static inline abi::Code (*plain_launch)(abi::Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, abi::Stream, void**, void**) = nullptr;
  static inline abi::Code (*extended_launch)(const abi::LaunchConfig*, abi::Function, void**,
                                             void**) = nullptr;
  static inline abi::Code (*cooperative_launch)(abi::Function, unsigned, unsigned, unsigned, unsigned,
                                                unsigned, unsigned, unsigned, abi::Stream, void**) = nullptr;
};

}  // namespace kernelsmith::cuda
