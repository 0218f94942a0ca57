// A recording CUDA driver: the few functions that candidates use besides the runtime, and the ways to look
// them up.
#include <algorithm>
#include <string_view>

#include <dlfcn.h>

#include "planner/recorder.hpp"
#include "planner/recording_names.hpp"
#include "planner/refusals.hpp"
#include "planner/tensor_map_token.hpp"

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names
using namespace kernelsmith::cuda::planner;
namespace plan = kernelsmith::plan;

namespace {

/// This program's function with that name; null after a refusal.
void* entry_point(const char* name) {
  void* found = std::string_view(name).starts_with("cu") ? dlsym(RTLD_DEFAULT, name) : nullptr;
  if (found == nullptr) recorder().refuse_by_name(name);
  return found;
}

int give_entry_point(const char* name, void** function, int* status) {
  *function = entry_point(name);
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  return *function == nullptr ? kSymbolNotFound : kSuccess;
}

using Dlopen = void* (*)(const char*, int);

bool names_library(std::string_view path, std::string_view library) {
  return path.substr(path.rfind('/') + 1).starts_with(library);
}

}  // namespace

KERNELSMITH_RECORDED int cuTensorMapEncodeTiled(void* map, int data_type, std::uint32_t rank, void* address,
                                                const std::uint64_t* dimensions, const std::uint64_t* strides,
                                                const std::uint32_t* box,
                                                const std::uint32_t* element_strides, int interleave,
                                                int swizzle, int l2_promotion, int fill) {
  plan::TensorMap arguments;
  arguments.data_type = static_cast<std::uint32_t>(data_type);
  arguments.rank = rank;
  arguments.address = reinterpret_cast<std::uint64_t>(address);
  const std::uint32_t axes = std::min<std::uint32_t>(rank, 5);  // CUDA's maximum
  std::copy_n(dimensions, axes, arguments.dimensions.begin());
  if (axes > 1) std::copy_n(strides, axes - 1, arguments.strides.begin());
  std::copy_n(box, axes, arguments.box.begin());
  std::copy_n(element_strides, axes, arguments.element_strides.begin());
  arguments.interleave = static_cast<std::uint32_t>(interleave);
  arguments.swizzle = static_cast<std::uint32_t>(swizzle);
  arguments.l2_promotion = static_cast<std::uint32_t>(l2_promotion);
  arguments.out_of_bounds_fill = static_cast<std::uint32_t>(fill);
  // Invalid maps, which the real function refuses, are refused by plan::check() when they are used.
  recorder().leave_token(map, arguments);
  return kSuccess;
}

KERNELSMITH_RECORDED int cuTensorMapReplaceAddress(void* map, void* address) {
  const plan::TensorMap* const found = recorder().behind_token(map);
  if (found == nullptr) return kInvalidValue;
  plan::TensorMap arguments = *found;
  arguments.address = reinterpret_cast<std::uint64_t>(address);
  recorder().leave_token(map, arguments);
  return kSuccess;
}

// Ways to look up a driver function.
KERNELSMITH_RECORDED int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                                 int* status) {
  return recorder().failed(static_cast<Code>(give_entry_point(name, function, status)));
}
KERNELSMITH_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
KERNELSMITH_RECORDED int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                          unsigned long long, int* status) {
  return recorder().failed(static_cast<Code>(give_entry_point(name, function, status)));
}
KERNELSMITH_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);
KERNELSMITH_RECORDED int cuGetProcAddress(const char* name, void** function, int, std::uint64_t) {
  return give_entry_point(name, function, nullptr);
}
KERNELSMITH_RECORDED int cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t,
                                             int* status) {
  return give_entry_point(name, function, status);
}
KERNELSMITH_ALIAS(cuGetProcAddress_v2_ptsz, cuGetProcAddress_v2);

/// This program itself is the driver and the runtime; other libraries of CUDA are refused by name.
KERNELSMITH_RECORDED void* dlopen(const char* path, int mode) noexcept {
  static const auto real = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  if (path == nullptr) return real(nullptr, mode);
  if (names_library(path, "libcuda.so") || names_library(path, "libcudart.so")) return real(nullptr, mode);
  if (names_library(path, "libcu") || names_library(path, "libnv")) {
    const std::string_view file = std::string_view(path).substr(std::string_view(path).rfind('/') + 1);
    recorder().refuse_by_name(file.substr(3, file.find('.') - 3));
    return nullptr;
  }
  return real(path, mode);
}

// The device.
KERNELSMITH_RECORDED int cuDriverGetVersion(int* version) {
  return answer(version, recorder().device().driver_version);
}
KERNELSMITH_RECORDED int cuDeviceGetCount(int* count) { return answer(count, 1); }
KERNELSMITH_RECORDED int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const auto& attributes = recorder().device().attributes;
  const auto found = attributes.find(attribute);
  *value = found == attributes.end() ? 0 : found->second;
  return device == 0 ? kSuccess : kInvalidDevice;
}
/// The generated shim calls this and cuDeviceGetName for cudaGetDeviceProperties.
KERNELSMITH_RECORDED int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = recorder().device().memory_bytes;
  return device == 0 ? kSuccess : kInvalidDevice;
}
KERNELSMITH_RECORDED int cuCtxGetDevice(int* device) { return answer(device, 0); }
KERNELSMITH_RECORDED int cuCtxGetCurrent(void** context) {
  return answer(context, Recorder::call_stream());  // a dummy handle
}
KERNELSMITH_RECORDED int cuCtxSetCurrent(void*) { return kSuccess; }
KERNELSMITH_RECORDED int cuGetErrorString(int code, const char** text) {
  return answer(text,
                code == kSuccess ? "no error" : "an error that the planner's stand-in of the driver gave");
}
KERNELSMITH_ALIAS(cuGetErrorName, cuGetErrorString);
// NOLINTEND(readability-identifier-naming)
