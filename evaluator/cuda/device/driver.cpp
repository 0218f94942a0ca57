#include "device/driver.hpp"

#include <dlfcn.h>

namespace kernelsmith::cuda {
namespace {

constexpr int kOldestDriver = 12000;  // tensor maps and launch attributes came with it

const char* const kDriverHint = "install NVIDIA's driver (nvidia-smi must list the GPU)";

/// Finds functions until one is missing, whose name is kept.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class... Arguments>
  void find(DriverFunction<Arguments...>& function) {
    find_if_there(function);
    if (function.pointer == nullptr && missing_ == nullptr) missing_ = function.name;
  }
  template <class... Arguments>
  void find_if_there(DriverFunction<Arguments...>& function) {
    function.pointer = reinterpret_cast<abi::Code (*)(Arguments...)>(::dlsym(library_, function.name));
  }
  template <class... Functions>
  void find_all(Functions&... functions) {
    (find(functions), ...);
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace

Status Driver::load() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return fail(ErrorCode::unsupported,
                std::string("no CUDA driver: ") + (why != nullptr ? why : "libcuda.so.1 is not found"), {},
                kDriverHint);
  }
  Finder finder(library);
  finder.find_all(error_string, error_name, init, driver_version, device_count, device_get, device_name,
                  device_bus_id, device_memory, device_attribute);
  finder.find_all(context_create, context_destroy, context_push, context_pop, context_synchronize,
                  reset_persisting_l2);
  finder.find_all(memory_info, memory_allocate, memory_free, host_allocate, host_free, host_device_pointer,
                  copy_to_device, copy_to_host, copy_on_device, set_bytes, set_halves, set_words);
  finder.find_all(granularity, memory_create, memory_release, address_reserve, address_free, memory_map,
                  memory_unmap, set_access, memory_export, memory_import);
  finder.find_all(stream_create, stream_destroy, stream_synchronize, stream_wait, capture_begin, capture_end,
                  event_create, event_destroy, event_record, event_query, event_elapsed);
  finder.find_all(module_load, module_unload, module_function, module_global, function_set, launch,
                  encode_tensor_map);
  finder.find_all(graph_create, graph_destroy, graph_add_child, graph_add_empty, graph_instantiate,
                  graph_exec_destroy, graph_upload, graph_launch);
  finder.find_if_there(parameter_info);
  if (finder.missing() != nullptr)
    return fail(ErrorCode::unsupported,
                std::string("the CUDA driver is too old: it has no ") + finder.missing(), "libcuda.so.1",
                "install a driver for CUDA 12.0 or later");
  if (const Code code = init(0); code != abi::kSuccess)
    return fail(ErrorCode::unsupported, "cuInit: " + words(code), {}, kDriverHint);
  if (const Code code = driver_version(&version); code != abi::kSuccess)
    return fail(ErrorCode::unsupported, "cuDriverGetVersion: " + words(code), {}, kDriverHint);
  if (version < kOldestDriver)
    return fail(ErrorCode::unsupported,
                "the CUDA driver is too old: it supports CUDA " + std::to_string(version / 1000) + "." +
                    std::to_string(version % 1000 / 10),
                "libcuda.so.1", "install a driver for CUDA 12.0 or later");
  return {};
}

Result<const Driver*> Driver::get() {
  static const std::pair<Driver, Status> loaded = [] {
    std::pair<Driver, Status> made;
    made.second = made.first.load();
    return made;
  }();
  if (loaded.second.has_error()) return loaded.second.error();
  return &loaded.first;
}

std::string Driver::words(Code code) const {
  const char* text = nullptr;
  const char* name = nullptr;
  if (error_string(code, &text) != abi::kSuccess || text == nullptr) text = "an error without words";
  if (error_name(code, &name) != abi::kSuccess || name == nullptr)
    return std::string(text) + " (CUresult " + std::to_string(code) + ")";
  return std::string(text) + " (" + name + ")";
}

bool Driver::is_full() const {
  constexpr std::size_t kLittle = std::size_t{256} << 20;  // graphs and modules take less
  std::size_t left = 0, all = 0;
  return memory_info(&left, &all) != abi::kSuccess || left < kLittle;
}

Error Driver::error(const char* function, Code code) const {
  if (code == abi::kOutOfMemory)
    return fail(ErrorCode::busy, std::string("the GPU's memory is used up (") + function + ")", {},
                "wait for the processes that use this GPU, or end them; evaluator.buffer_mib takes less");
  return fail(ErrorCode::tool_failed, std::string(function) + ": " + words(code));
}

Result<Owned<abi::Stream>> make_stream(const Driver& driver) {
  abi::Stream stream = nullptr;
  if (const auto made = driver.call(driver.stream_create, &stream, abi::kStreamNonBlocking); !made)
    return made.error();
  return Owned(driver.stream_destroy, stream);
}

Result<Owned<abi::Event>> make_event(const Driver& driver, unsigned flags) {
  abi::Event event = nullptr;
  if (const auto made = driver.call(driver.event_create, &event, flags); !made) return made.error();
  return Owned(driver.event_destroy, event);
}

}  // namespace kernelsmith::cuda
