// The C interface between Python (kernelsmith_torch/extension_abi.py, by ctypes) and this library. One thread
// uses it.
#pragma once

#include <cstdint>

#include "stand_in/abi.hpp"

namespace kernelsmith::extension {

enum OperationKind : int { kLaunch, kMemset, kCopy, kUpload, kSymbolUpload, kSymbolCopy };

/// A device operation, in the order of issue. Addresses are those of fake tensors.
struct Operation {
  int kind = 0;
  std::uint32_t module = 0;                   ///< of the kernel or variable
  const char* name = nullptr;                 ///< of the kernel or variable, mangled
  std::uint64_t to = 0, from = 0;             ///< addresses; for symbols `to` is an offset in the variable
  std::uint64_t bytes = 0;                    ///< size of the operation, or of `data` if there is any
  const void* data = nullptr;                 ///< parameters, or the uploaded bytes
  const std::uint32_t* parameters = nullptr;  ///< of a kernel: offset and size of each
  std::uint64_t parameter_count = 0;
  std::uint32_t value = 0, width = 0;                 ///< value of a memset
  std::uint32_t grid[3]{}, block[3]{}, cluster[3]{};  ///< cluster: zeros if not set
  std::uint32_t shared = 0, max_shared = 0;
  int cooperative = 0;
};

/// Python's functions for an extension. They do not throw. After an error, operate and act pass its text to
/// the library (kernelsmith_extension_error) and return -1.
struct PythonSide {
  int (*operate)(const char* name, const Value* arguments, int count, Value* results, int most);
  void (*drop)(std::int64_t identity);
  void (*define)(const char* name, const char* signature, const char* names, const Value* defaults,
                 int function);
  int (*on_device)(std::uint64_t address);
  std::uint64_t (*allocate)(std::uint64_t bytes);
  int (*release)(std::uint64_t address);
  int (*act)(const Operation* operation);
  /// Returns 1 if an address that was read can only belong to a fake tensor.
  int (*is_fake)(std::uint64_t address);
};
const PythonSide& python();

/// The text of Python's latest error.
const char* error_text();

}  // namespace kernelsmith::extension
