// PyTorch's functions on tensors.
#pragma once

#include "stand_in/tensor.hpp"

namespace at {

#define KERNELSMITH_FUNCTION(NAME) Tensor NAME(KERNELSMITH_MORE_ARGUMENTS);
#include "stand_in/functions.def"
#undef KERNELSMITH_FUNCTION

/// Operators on two tensors, and on a tensor and a number on either side: SIGN, its name, and the name with
/// the sides exchanged.
#define KERNELSMITH_OPERATORS(OPERATOR) \
  OPERATOR(+, add, add)                 \
  OPERATOR(-, sub, rsub)                \
  OPERATOR(*, mul, mul)                 \
  OPERATOR(/, div, rdiv)                \
  OPERATOR(<, lt, gt)                   \
  OPERATOR(>, gt, lt) OPERATOR(<=, le, ge) OPERATOR(>=, ge, le) OPERATOR(==, eq, eq) OPERATOR(!=, ne, ne)
#define KERNELSMITH_OPERATOR(SIGN, NAME, TURNED)                 \
  Tensor operator SIGN(const Tensor& left, const Tensor& right); \
  Tensor operator SIGN(const Tensor& left, const Scalar& right); \
  Tensor operator SIGN(const Scalar& left, const Tensor& right);
KERNELSMITH_OPERATORS(KERNELSMITH_OPERATOR)
#undef KERNELSMITH_OPERATOR

Tensor max(const Tensor& self);
Tensor max(const Tensor& self, const Tensor& other);
Tensor::Pair max(const Tensor& self, std::int64_t dim, bool keepdim = false);
Tensor min(const Tensor& self);
Tensor min(const Tensor& self, const Tensor& other);
Tensor::Pair min(const Tensor& self, std::int64_t dim, bool keepdim = false);
Tensor::Pair topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                  bool sorted = true);
Tensor::Pair sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
Tensor::Pair var_mean(const Tensor& self, KERNELSMITH_ARGUMENTS);
Tensor::Pair max_pool2d_with_indices(const Tensor& self, KERNELSMITH_MORE_ARGUMENTS);
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& self, KERNELSMITH_ARGUMENTS);
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
std::vector<Tensor> split(const Tensor& self, extension::Argument size, std::int64_t dim = 0);
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
/// Elements from the extension. As in PyTorch, whole numbers are Long and others Float unless the options say
/// otherwise.
template <class T, class Numbers>
Tensor tensor_of(const Numbers& numbers, const TensorOptions& given) {
  constexpr ScalarType type = std::is_same_v<T, bool> ? kBool : std::is_integral_v<T> ? kLong : kFloat;
  const TensorOptions options = given.type_ < 0 ? given.dtype(type) : given;
  if constexpr (std::is_integral_v<T>)
    return extension::call("tensor", {std::vector<std::int64_t>(numbers.begin(), numbers.end()), options});
  else
    return extension::call("tensor", {std::vector<double>(numbers.begin(), numbers.end()), options});
}
template <class T>
Tensor tensor(const std::vector<T>& numbers, const TensorOptions& options = {}) {
  return tensor_of<T>(numbers, options);
}
template <class T>
Tensor tensor(std::initializer_list<T> numbers, const TensorOptions& options = {}) {
  return tensor_of<T>(numbers, options);
}
template <class T>
Tensor tensor(ArrayRef<T> numbers, const TensorOptions& options = {}) {
  return tensor_of<T>(numbers, options);
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Tensor tensor(T number, const TensorOptions& given = {}) {
  constexpr ScalarType type = std::is_same_v<T, bool> ? kBool : std::is_integral_v<T> ? kLong : kFloat;
  return extension::call("tensor", {number, given.type_ < 0 ? given.dtype(type) : given});
}

inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}
inline std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t count) {
  return dim < 0 ? dim + count : dim;
}
template <class T, class U>
KERNELSMITH_ANYWHERE auto ceil_div(T a, U b) {
  return (a + b - 1) / b;
}

/// The type in which PyTorch's kernels accumulate.
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;
template <class T, bool on_cuda = true>
using acc_type = opmath_type<T>;

// Guards of autograd: nothing is differentiated here.
struct NoGradGuard {};
struct InferenceMode {
  explicit InferenceMode(bool = true) {}
};
struct AutoGradMode {
  explicit AutoGradMode(bool) {}
};
struct AutoDispatchBelowADInplaceOrView {};

}  // namespace at
namespace c10 {
using at::InferenceMode;
}
