// Tasks and references that several tests of the truth use.
#pragma once

#include <cmath>

#include "fake_oracle.hpp"

namespace kernelsmith::fake {

/// c = a b, of m x k and k x n.
inline Task matmul_task(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype = Dtype::f32) {
  return task_of(
      {tensor("a", TensorRole::in, {"m", "k"}, dtype), tensor("b", TensorRole::in, {"k", "n"}, dtype),
       tensor("c", TensorRole::out, {"m", "n"}, dtype)},
      {{{"m", m}, {"n", n}, {"k", k}}});
}

/// For one timed shape.
struct Matmul {
  std::size_t m, n, k;

  template <class Call>
  void operator()(Call& call) const {
    using Real = typename Call::Real;
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        Real sum = 0;
        for (std::size_t p = 0; p < k; ++p) sum += call.in(0)[i * k + p] * call.in(1)[p * n + j];
        call.out(2)[i * n + j] = sum;
      }
  }
};

/// y from x, both of rows x cols.
inline Task rows_task(std::int64_t rows, std::int64_t cols, Dtype dtype = Dtype::f32) {
  return task_of({tensor("x", TensorRole::in, {"rows", "cols"}, dtype),
                  tensor("y", TensorRole::out, {"rows", "cols"}, dtype)},
                 {{{"rows", rows}, {"cols", cols}}});
}

/// Over rows of `cols`.
struct Softmax {
  std::size_t cols;

  template <class Call>
  void operator()(Call& call) const {
    using Real = typename Call::Real;
    const auto& x = call.in(0);
    for (std::size_t begin = 0; begin < x.size(); begin += cols) {
      Real most = x[begin], sum = 0;
      for (std::size_t i = begin; i < begin + cols; ++i) most = std::max(most, x[i]);
      for (std::size_t i = begin; i < begin + cols; ++i) sum += call.out(1)[i] = std::exp(x[i] - most);
      for (std::size_t i = begin; i < begin + cols; ++i) call.out(1)[i] /= sum;
    }
  }
};

/// The same function of each element.
template <class Function>
auto elementwise(const Function& function) {
  return [function](auto& call) {
    for (std::size_t i = 0; i < call.in(0).size(); ++i) call.out(1)[i] = function(call.in(0)[i]);
  };
}

}  // namespace kernelsmith::fake
