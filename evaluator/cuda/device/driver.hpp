// Driver: the functions of libcuda.so.1, found at run time.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <kernelsmith/core/result.hpp>

#include "device/driver_abi.hpp"

namespace kernelsmith::cuda {

/// One function of the driver, with the name that errors show.
template <class... Arguments>
struct DriverFunction {
  const char* name = nullptr;  ///< as exported
  abi::Code (*pointer)(Arguments...) = nullptr;
  abi::Code operator()(std::type_identity_t<Arguments>... arguments) const { return pointer(arguments...); }
};

struct Driver {
  using Code = abi::Code;
  using Address = abi::Address;

  /// Loads the library and initialises it, once for the process. Errors: unsupported (no driver, no GPU, a
  /// driver older than CUDA 12.0). Thread-safe.
  static Result<const Driver*> get();

  /// "invalid argument (CUDA_ERROR_INVALID_VALUE)"
  std::string words(Code code) const;
  /// "cuMemMap: invalid argument (CUDA_ERROR_INVALID_VALUE)"
  Error error(const char* function, Code code) const;

  /// Whether the device has too little memory left to say whose fault a lack of it is. With a current
  /// context.
  bool is_full() const;

  /// Calls the function; its refusal is an Error of code tool_failed, or busy when memory ran out.
  template <class... Arguments>
  Status call(const DriverFunction<Arguments...>& function,
              std::type_identity_t<Arguments>... arguments) const {
    if (const Code code = function(arguments...); code != abi::kSuccess) return error(function.name, code);
    return {};
  }

  int version = 0;  ///< 13000: what the driver supports

  DriverFunction<Code, const char**> error_string{"cuGetErrorString"};
  DriverFunction<Code, const char**> error_name{"cuGetErrorName"};
  DriverFunction<unsigned> init{"cuInit"};
  DriverFunction<int*> driver_version{"cuDriverGetVersion"};
  DriverFunction<int*> device_count{"cuDeviceGetCount"};
  DriverFunction<abi::DeviceNumber*, int> device_get{"cuDeviceGet"};
  DriverFunction<char*, int, abi::DeviceNumber> device_name{"cuDeviceGetName"};
  DriverFunction<char*, int, abi::DeviceNumber> device_bus_id{"cuDeviceGetPCIBusId"};
  DriverFunction<std::size_t*, abi::DeviceNumber> device_memory{"cuDeviceTotalMem_v2"};
  DriverFunction<int*, int, abi::DeviceNumber> device_attribute{"cuDeviceGetAttribute"};

  DriverFunction<abi::Context*, unsigned, abi::DeviceNumber> context_create{"cuCtxCreate_v2"};
  DriverFunction<abi::Context> context_destroy{"cuCtxDestroy_v2"};
  DriverFunction<abi::Context> context_push{"cuCtxPushCurrent_v2"};
  DriverFunction<abi::Context*> context_pop{"cuCtxPopCurrent_v2"};
  DriverFunction<> context_synchronize{"cuCtxSynchronize"};
  DriverFunction<> reset_persisting_l2{"cuCtxResetPersistingL2Cache"};

  DriverFunction<std::size_t*, std::size_t*> memory_info{"cuMemGetInfo_v2"};  ///< free, all
  DriverFunction<Address*, std::size_t> memory_allocate{"cuMemAlloc_v2"};
  DriverFunction<Address> memory_free{"cuMemFree_v2"};
  DriverFunction<void**, std::size_t, unsigned> host_allocate{"cuMemHostAlloc"};
  DriverFunction<void*> host_free{"cuMemFreeHost"};
  DriverFunction<Address*, void*, unsigned> host_device_pointer{"cuMemHostGetDevicePointer_v2"};
  DriverFunction<Address, const void*, std::size_t, abi::Stream> copy_to_device{"cuMemcpyHtoDAsync_v2"};
  DriverFunction<void*, Address, std::size_t, abi::Stream> copy_to_host{"cuMemcpyDtoHAsync_v2"};
  DriverFunction<Address, Address, std::size_t, abi::Stream> copy_on_device{"cuMemcpyDtoDAsync_v2"};
  DriverFunction<Address, unsigned char, std::size_t, abi::Stream> set_bytes{"cuMemsetD8Async"};
  DriverFunction<Address, unsigned short, std::size_t, abi::Stream> set_halves{"cuMemsetD16Async"};
  DriverFunction<Address, unsigned, std::size_t, abi::Stream> set_words{"cuMemsetD32Async"};

  DriverFunction<std::size_t*, const abi::MemoryProperties*, int> granularity{
      "cuMemGetAllocationGranularity"};
  DriverFunction<abi::MemoryHandle*, std::size_t, const abi::MemoryProperties*, unsigned long long>
      memory_create{"cuMemCreate"};
  DriverFunction<abi::MemoryHandle> memory_release{"cuMemRelease"};
  DriverFunction<Address*, std::size_t, std::size_t, Address, unsigned long long> address_reserve{
      "cuMemAddressReserve"};
  DriverFunction<Address, std::size_t> address_free{"cuMemAddressFree"};
  DriverFunction<Address, std::size_t, std::size_t, abi::MemoryHandle, unsigned long long> memory_map{
      "cuMemMap"};
  DriverFunction<Address, std::size_t> memory_unmap{"cuMemUnmap"};
  DriverFunction<Address, std::size_t, const abi::AccessDescription*, std::size_t> set_access{
      "cuMemSetAccess"};
  DriverFunction<void*, abi::MemoryHandle, int, unsigned long long> memory_export{
      "cuMemExportToShareableHandle"};
  DriverFunction<abi::MemoryHandle*, void*, int> memory_import{"cuMemImportFromShareableHandle"};

  DriverFunction<abi::Stream*, unsigned> stream_create{"cuStreamCreate"};
  DriverFunction<abi::Stream> stream_destroy{"cuStreamDestroy_v2"};
  DriverFunction<abi::Stream> stream_synchronize{"cuStreamSynchronize"};
  DriverFunction<abi::Stream, abi::Event, unsigned> stream_wait{"cuStreamWaitEvent"};
  DriverFunction<abi::Stream, int> capture_begin{"cuStreamBeginCapture_v2"};
  DriverFunction<abi::Stream, abi::Graph*> capture_end{"cuStreamEndCapture"};
  DriverFunction<abi::Event*, unsigned> event_create{"cuEventCreate"};
  DriverFunction<abi::Event> event_destroy{"cuEventDestroy_v2"};
  DriverFunction<abi::Event, abi::Stream> event_record{"cuEventRecord"};
  DriverFunction<abi::Event> event_query{"cuEventQuery"};
  DriverFunction<float*, abi::Event, abi::Event> event_elapsed{"cuEventElapsedTime"};  ///< ms

  DriverFunction<abi::Module*, const void*> module_load{"cuModuleLoadData"};
  DriverFunction<abi::Module> module_unload{"cuModuleUnload"};
  DriverFunction<abi::Function*, abi::Module, const char*> module_function{"cuModuleGetFunction"};
  DriverFunction<Address*, std::size_t*, abi::Module, const char*> module_global{"cuModuleGetGlobal_v2"};
  DriverFunction<abi::Function, int, int> function_set{"cuFuncSetAttribute"};
  /// Offset and size of a parameter. Null before CUDA 12.4.
  DriverFunction<abi::Function, std::size_t, std::size_t*, std::size_t*> parameter_info{"cuFuncGetParamInfo"};
  DriverFunction<const abi::LaunchConfig*, abi::Function, void**, void**> launch{"cuLaunchKernelEx"};
  DriverFunction<abi::TensorMap*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                 const std::uint32_t*, const std::uint32_t*, int, int, int, int>
      encode_tensor_map{"cuTensorMapEncodeTiled"};

  DriverFunction<abi::Graph*, unsigned> graph_create{"cuGraphCreate"};
  DriverFunction<abi::Graph> graph_destroy{"cuGraphDestroy"};
  DriverFunction<abi::GraphNode*, abi::Graph, const abi::GraphNode*, std::size_t, abi::Graph> graph_add_child{
      "cuGraphAddChildGraphNode"};
  DriverFunction<abi::GraphNode*, abi::Graph, const abi::GraphNode*, std::size_t> graph_add_empty{
      "cuGraphAddEmptyNode"};
  DriverFunction<abi::GraphExec*, abi::Graph, unsigned long long> graph_instantiate{
      "cuGraphInstantiateWithFlags"};
  DriverFunction<abi::GraphExec> graph_exec_destroy{"cuGraphExecDestroy"};
  DriverFunction<abi::GraphExec, abi::Stream> graph_upload{"cuGraphUpload"};
  DriverFunction<abi::GraphExec, abi::Stream> graph_launch{"cuGraphLaunch"};

 private:
  Status load();
};

/// Owns one object of the driver; its context must be current when it is destroyed.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(const DriverFunction<T>& destroy, T value) : destroy_(&destroy), value_(value) {}
  Owned(Owned&& other) noexcept
      : destroy_(std::exchange(other.destroy_, nullptr)), value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      destroy_ = std::exchange(other.destroy_, nullptr);
      value_ = std::exchange(other.value_, T{});
    }
    return *this;
  }
  ~Owned() { reset(); }

  T get() const { return value_; }
  explicit operator bool() const { return destroy_ != nullptr; }
  void reset() {
    if (destroy_ != nullptr) (*std::exchange(destroy_, nullptr))(value_);
  }

 private:
  const DriverFunction<T>* destroy_ = nullptr;
  T value_{};
};

// Objects of the current context. Errors: tool_failed.
Result<Owned<abi::Stream>> make_stream(const Driver& driver);
Result<Owned<abi::Event>> make_event(const Driver& driver, unsigned flags);

}  // namespace kernelsmith::cuda
