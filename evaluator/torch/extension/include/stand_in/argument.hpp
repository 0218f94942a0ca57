// An argument of an operator: of any kind that PyTorch's operators accept. Python binds it to the operator's
// schema.
#pragma once

#include "stand_in/check.hpp"
#include "stand_in/options.hpp"

namespace at {
using namespace c10;
class Tensor;
using TensorBase = Tensor;
using TensorList = ArrayRef<Tensor>;

/// The result of Tensor::type() in old code.
struct DeprecatedTypeProperties {
  ScalarType type;
  Device device_;
  bool is_cuda() const { return device_.is_cuda(); }
  ScalarType scalarType() const { return type; }
  const char* toString() const { return c10::toString(type); }
  operator ScalarType() const { return type; }
  operator TensorOptions() const { return TensorOptions(type).device(device_); }
  bool operator==(const DeprecatedTypeProperties& other) const { return type == other.type; }
  bool operator!=(const DeprecatedTypeProperties& other) const { return type != other.type; }
};
}  // namespace at

namespace kernelsmith::extension {

/// `{}` means "not given". Data is copied into the argument, and copies of the argument share it.
class Argument {
 public:
  Argument() = default;
  Argument(c10::nullopt_t) {}
  Argument(const at::Tensor& tensor);
  Argument(std::initializer_list<at::Tensor> tensors);
  Argument(at::TensorList tensors);
  Argument(const std::vector<at::Tensor>& tensors);
  template <class T>
  Argument(const std::optional<T>& maybe) {
    if (maybe) *this = Argument(*maybe);
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Argument(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      value_.kind = kDouble;
      value_.real = static_cast<double>(number);
    } else {
      value_.kind = std::is_same_v<T, bool> ? kBool : kInt;
      value_.integer = static_cast<std::int64_t>(number);
    }
  }
  Argument(const c10::Scalar& scalar);
  Argument(std::initializer_list<std::int64_t> integers);
  Argument(c10::IntArrayRef integers);
  Argument(const std::vector<std::int64_t>& integers);
  template <class Container,
            class = std::enable_if_t<std::is_same_v<typename Container::value_type, std::int64_t>>,
            class = decltype(std::declval<const Container&>().data())>
  Argument(const Container& integers) : Argument(c10::IntArrayRef(integers.data(), integers.size())) {}
  Argument(const std::vector<double>& numbers);
  Argument(const std::vector<Argument>& arguments, ValueKind kind);  ///< a list or a tuple
  Argument(const char* text);
  template <class Text,
            std::enable_if_t<
                std::is_convertible_v<decltype(std::declval<const Text&>().c_str()), const char*>, int> = 0>
  Argument(const Text& text) : Argument(text.c_str()) {}
  Argument(c10::ScalarType type);
  Argument(c10::TypeMeta type) : Argument(type.type) {}
  Argument(const at::DeprecatedTypeProperties& type) : Argument(type.type) {}
  Argument(c10::Device device);
  Argument(c10::DeviceType device) : Argument(c10::Device(device)) {}
  Argument(c10::MemoryFormat format);
  Argument(const c10::TensorOptions& options);
  Argument(const Argument& other);
  Argument& operator=(Argument other);
  ~Argument();

  const Value& value() const { return value_; }

 private:
  struct Owned;
  Owned& own();
  Value value_{};
  Owned* owned_ = nullptr;
};

/// Asks Python for the operator; a name that begins with a dot is a method. Throws c10::Error.
at::Tensor call(const char* name, std::initializer_list<Argument> arguments);
void call(const char* name, std::initializer_list<Argument> arguments, at::Tensor* results, int count);
std::vector<at::Tensor> call_for_list(const char* name, std::initializer_list<Argument> arguments);
double call_for_number(const char* name, std::initializer_list<Argument> arguments);

/// The tensor's address. Throws if the elements have another type than `wanted`.
void* data_of(const Facts* facts, c10::ScalarType wanted);
void* data_of(const Facts* facts);
/// The dimension with this index; negative indices count from the end.
std::int64_t dimension(const Facts* facts, std::int64_t index);
/// Throws if the tensor is undefined.
const Facts& defined(const Facts* facts);

#define KERNELSMITH_ARGUMENT kernelsmith::extension::Argument
#define KERNELSMITH_ARGUMENTS                                                            \
  KERNELSMITH_ARGUMENT a = {}, KERNELSMITH_ARGUMENT b = {}, KERNELSMITH_ARGUMENT c = {}, \
                       KERNELSMITH_ARGUMENT d = {}, KERNELSMITH_ARGUMENT e = {}
#define KERNELSMITH_MORE_ARGUMENTS                                                 \
  KERNELSMITH_ARGUMENTS, KERNELSMITH_ARGUMENT f = {}, KERNELSMITH_ARGUMENT g = {}, \
                                              KERNELSMITH_ARGUMENT h = {}, KERNELSMITH_ARGUMENT i = {}

}  // namespace kernelsmith::extension
