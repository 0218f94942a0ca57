// Driver: a vendor's driver, loaded at run time.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <kernelsmith/core/result.hpp>

#include "device/driver_abi.hpp"

namespace kernelsmith::cuda {

struct GpuVendor;

/// A function of the driver, with its name for errors. A missing function returns "not supported".
template <class... Arguments>
struct DriverFunction {
  const char* name = "a function that this driver lacks";  ///< as exported
  abi::Code (*pointer)(Arguments...) = nullptr;
  explicit operator bool() const { return pointer != nullptr; }
  abi::Code operator()(std::type_identity_t<Arguments>... arguments) const {
    return pointer != nullptr ? pointer(arguments...) : abi::kNotSupported;
  }
};

struct Driver {
  using Code = abi::Code;
  using Address = abi::Address;

  /// Loads the library and initialises it, once for the process. Errors: unsupported (no driver, no GPU, a
  /// driver older than GpuVendor::oldest_driver). Thread-safe.
  static Result<const Driver*> get(const GpuVendor& vendor);

  /// Describes the code, such as "invalid argument (CUDA_ERROR_INVALID_VALUE)".
  std::string words(Code code) const;
  /// Makes an error, such as "cuMemMap: invalid argument (CUDA_ERROR_INVALID_VALUE)".
  Error error(const char* function, Code code) const;

  /// Whether the device has so little free memory that an allocation failure is not clearly the candidate's
  /// fault. Needs a current context.
  bool is_full() const;

  /// Calls the function. A failure is an Error tool_failed, or busy if memory ran out.
  template <class... Arguments>
  Status call(const DriverFunction<Arguments...>& function,
              std::type_identity_t<Arguments>... arguments) const {
    if (const Code code = function(arguments...); code != abi::kSuccess) return error(function.name, code);
    return {};
  }

  int version = 0;  ///< CUDA version that the driver supports, such as 13000 for 13.0

  const GpuVendor& vendor() const { return *vendor_; }
  std::string api() const;  ///< "CUDA", in messages

#define DRIVER_FUNCTION(member, name, ...) DriverFunction<__VA_ARGS__> member;
#include "vendors/driver_functions.def"
#undef DRIVER_FUNCTION

 private:
  Status load(const GpuVendor& vendor);

  const GpuVendor* vendor_ = nullptr;
};

/// Owns one object of the driver. The object's context must be current when the owner is destroyed.
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

// Creates objects of the current context. Errors: tool_failed.
Result<Owned<abi::Stream>> make_stream(const Driver& driver);
Result<Owned<abi::Event>> make_event(const Driver& driver, unsigned flags);

}  // namespace kernelsmith::cuda
