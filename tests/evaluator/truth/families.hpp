// Families of operations for the calibration of the error budget: a task each, and kernels of its function in
// every precision and order of summation. The plainest of them is the task's reference.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <ostream>

#include "fake_oracle.hpp"

namespace kernelsmith::truth {

using fake::task_of;

enum class Order { sequential, reversed, pairwise, blocked_fma };
inline constexpr Order kOrders[] = {Order::sequential, Order::reversed, Order::pairwise, Order::blocked_fma};

/// Rounds to so many significant bits, to nearest; 0: not at all. Magnitudes stay far from overflow here.
template <class Real>
Real rounded(Real x, int bits) {
  constexpr int kDigits = std::numeric_limits<Real>::digits;
  if (bits == 0 || bits >= kDigits) return x;
  const Real scaled = x * (std::ldexp(Real{1}, kDigits - bits) + 1);
  return scaled - (scaled - x);
}

template <class Real>
struct Product {
  Real a, b = 1;
};

/// How a kernel computes.
struct Arithmetic {
  Order order = Order::sequential;
  /// As fast kernels do it: reciprocals in place of division, exp by exp2, a formula with fewer passes.
  bool fast = false;
  int sum_bits = 0;  ///< significant bits of its sums; 0: those of its type

  /// The sum of the products term(i), i from 0 to n - 1.
  template <class Real, class Term>
  Real sum(std::size_t n, const Term& term) const {
    return sum_of<Real>(0, n, term);
  }
  template <class Real>
  Real divide(Real a, Real b) const {
    return fast ? a * (1 / b) : a / b;
  }
  template <class Real>
  Real exp(Real x) const {
    return fast ? std::exp2(x * std::numbers::log2e_v<Real>) : std::exp(x);
  }

 private:
  template <class Real, class Term>
  Real sum_of(std::size_t begin, std::size_t end, const Term& term) const {
    constexpr std::size_t kLeaf = 8, kLanes = 8;
    if (order == Order::pairwise && end - begin > kLeaf) {
      const std::size_t middle = begin + (end - begin) / 2;
      return rounded(sum_of<Real>(begin, middle, term) + sum_of<Real>(middle, end, term), sum_bits);
    }
    if (order == Order::blocked_fma) {
      Real lanes[kLanes] = {};
      for (std::size_t i = begin; i < end; ++i) {
        const Product<Real> p = term(i);
        lanes[i % kLanes] = rounded(std::fma(p.a, p.b, lanes[i % kLanes]), sum_bits);
      }
      Real total = 0;
      for (const Real lane : lanes) total = rounded(total + lane, sum_bits);
      return total;
    }
    Real total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Product<Real> p = term(order == Order::reversed ? begin + end - 1 - i : i);
      total = rounded(p.a * p.b + total, sum_bits);
    }
    return total;
  }
};

/// The values of all tensors, by tensor.
template <class Real>
using Tensors = std::vector<std::vector<Real>>;

/// One function in three precisions.
class Kernel {
 public:
  template <class Function>
  explicit(false) Kernel(Function function)
      : float_(function), double_(function), long_double_(std::move(function)) {}

  void operator()(const Arithmetic& how, const Sizes& n, Tensors<float>& t) const { float_(how, n, t); }
  void operator()(const Arithmetic& how, const Sizes& n, Tensors<double>& t) const { double_(how, n, t); }
  void operator()(const Arithmetic& how, const Sizes& n, Tensors<long double>& t) const {
    long_double_(how, n, t);
  }

 private:
  template <class Real>
  using Of = std::function<void(const Arithmetic&, const Sizes&, Tensors<Real>&)>;
  Of<float> float_;
  Of<double> double_;
  Of<long double> long_double_;
};

struct Family {
  std::string name;
  Task task;
  Kernel kernel;
  bool sums = true;       ///< whether it adds anything up
  std::size_t sets = 12;  ///< of a timed shape; a candidate is shown at least as many
  /// By shape, the lower precisions that are found seldom or never.
  std::vector<std::set<std::string>> seldom = {};
  /// Whether the plainest order may be too inaccurate beside a reference that adds up more exactly.
  bool too_long = false;
};

/// For GoogleTest.
inline void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

inline std::size_t at(const Sizes& sizes, const char* name) {
  return static_cast<std::size_t>(sizes.at(name));
}

inline TensorSpec in(const char* name, std::vector<std::string> shape, Dtype dtype = Dtype::f32,
                     TensorInit init = TensorInit::normal) {
  return fake::tensor(name, TensorRole::in, std::move(shape), dtype, init);
}

inline TensorSpec out(const char* name, std::vector<std::string> shape, Dtype dtype = Dtype::f32) {
  return fake::tensor(name, TensorRole::out, std::move(shape), dtype);
}

/// A function of rows, which `kernel` is called with one by one: x, y, and the task's further tensors.
template <class RowKernel>
Kernel by_rows(const RowKernel& kernel) {
  return [kernel]<class Real>(const Arithmetic& how, const Sizes& sizes, Tensors<Real>& t) {
    const std::size_t cols = at(sizes, "cols");
    for (std::size_t row = 0; row < at(sizes, "rows"); ++row)
      kernel(how, cols, &t[0][row * cols], &t[1][row * (t[1].size() / at(sizes, "rows"))], row, t);
  };
}

template <class Real>
Real largest(const Real* x, std::size_t n) {
  return *std::max_element(x, x + n);
}

std::vector<Family> families();

}  // namespace kernelsmith::truth
