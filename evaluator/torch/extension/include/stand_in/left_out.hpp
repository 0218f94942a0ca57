// Names of PyTorch that a plan cannot represent: the compiler prints the reason and an alternative.
#pragma once

#include "stand_in/binding.hpp"

namespace kernelsmith::extension {
template <class...>
constexpr bool never = false;
}  // namespace kernelsmith::extension

namespace at {
template <class... More>
Tensor from_blob(const void*, IntArrayRef, More&&...) {
  static_assert(kernelsmith::extension::never<More...>,
                "torch::from_blob: a plan has no tensors in the host's memory. Make one with "
                "torch::tensor(std::vector), or copy the array with cudaMemcpy");
  return {};
}
}  // namespace at

namespace torch::autograd {
using variable_list = std::vector<at::Tensor>;
using tensor_list = variable_list;
struct AutogradContext {
  void save_for_backward(const variable_list&) {}
  variable_list get_saved_variables() const { return {}; }
};
template <class T>
struct Function {
  template <class... Arguments>
  static at::Tensor apply(Arguments&&...) {
    static_assert(kernelsmith::extension::never<T, Arguments...>,
                  "torch::autograd::Function: a plan has no gradients. Call its forward function");
    return {};
  }
};
}  // namespace torch::autograd

namespace pybind11 {
template <class...>
struct init {};
template <class T, class... Extra>
struct class_ {
  template <class... Arguments>
  explicit class_(Arguments&&...) {
    static_assert(
        kernelsmith::extension::never<T, Arguments...>,
        "py::class_: an extension's module can have functions only. Bind functions, and keep state in "
        "tensors that Python gives them");
  }
  template <class... Arguments>
  class_& def(Arguments&&...) {
    return *this;
  }
};
}  // namespace pybind11
