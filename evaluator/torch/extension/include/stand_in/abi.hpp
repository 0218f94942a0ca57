// The interface of an extension and the planner's library (libkernelsmith_extension.so). Python reads the
// same structures with ctypes: kernelsmith_torch/extension_abi.py repeats them and compares the sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelsmith::extension {

enum ValueKind : int {
  kMissing = -1,  ///< a default that is not set
  kNone,
  kBool,
  kInt,
  kDouble,
  kTensor,
  kString,
  kInts,
  kList,
  kTuple,
  kDtype,
  kDevice,
  kFormat,
  kOptions,  ///< four numbers: dtype, device, memory format, requires_grad; -1: not set
};

/// An argument or a result. The creator of the value owns its lists.
struct Value {
  int kind;
  int count;
  union {
    std::int64_t integer;
    double real;
    void* tensor;
    const char* text;
    const std::int64_t* integers;
    Value* values;
  };
};

/// A fake tensor in C++: reference-counted, made by the planner. `data` is an address without memory.
struct Facts {
  std::int64_t references;
  std::int64_t identity;  ///< Python's number of the tensor
  std::int64_t dimensions;
  std::int64_t elements;
  std::int64_t offset;  ///< offset of its first element in the storage, in elements
  const std::int64_t* sizes;
  const std::int64_t* strides;
  int dtype;
  int element_bytes;
  int contiguous;  ///< bits: contiguous, channels_last, channels_last_3d
  int device;      ///< 0: CPU, 1: CUDA
  char* data;
};

/// The signature that marks a name as a value, which is in `defaults`.
constexpr const char* kAttribute = "=";

/// Calls `function` with arguments of the kinds in its signature.
using Thunk = void (*)(void* function, const Value* arguments, Value* result);

}  // namespace kernelsmith::extension

extern "C" {
void kernelsmith_tensor_retain(kernelsmith::extension::Facts* facts);
void kernelsmith_tensor_release(kernelsmith::extension::Facts* facts);
/// A function of the module that is being initialised. `signature` has a letter for each parameter
/// (binding.hpp); `names` are separated by commas, and each has a value in `defaults`.
void kernelsmith_define(const char* name, void* function, kernelsmith::extension::Thunk thunk,
                        const char* signature, const char* names,
                        const kernelsmith::extension::Value* defaults);
/// Allocates the elements of a returned list; Python frees it.
void kernelsmith_make_list(kernelsmith::extension::Value* value, int count);
/// Allocates a returned text; Python frees it.
void kernelsmith_make_text(kernelsmith::extension::Value* value, const char* text);
}
