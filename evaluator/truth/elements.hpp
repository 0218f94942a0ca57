// The C++ types for Dtypes, so that hot loops can be templates.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/bytes.hpp>

#include "measure/rule.h"

namespace kernelsmith::truth {

using rule::Bf16;
using rule::F16;
using rule::F8e4m3;
using rule::F8e5m2;
struct Boolean {
  std::uint8_t bits = 0;
};

template <class T>
concept SmallRealType = requires {
  T::kMantissa;
};
template <class T>
concept RealType = std::floating_point<T> || SmallRealType<T>;

/// The type for computing with elements of T.
template <class T>
auto widened(T value) {
  if constexpr (SmallRealType<T>) {
    return rule::widened(value);
  } else if constexpr (std::same_as<T, Boolean>) {
    return value.bits == 0 ? 0 : 1;
  } else {
    return value;
  }
}

/// Converts `value` to T: reals to nearest; integers to nearest even and saturated; a bool is true unless 0.
template <class T, std::floating_point Real>
T element_from(Real value) {
  if constexpr (RealType<T>) {
    return rule::Narrowing<T, Real>::of(value);
  } else if constexpr (std::same_as<T, Boolean>) {
    return Boolean{static_cast<std::uint8_t>(value == 0 ? 0 : 1)};
  } else {
    using Limits = std::numeric_limits<T>;
    const Real whole = std::nearbyint(value);
    if (std::isnan(value)) return 0;
    if (whole <= static_cast<Real>(Limits::min())) return Limits::min();
    // The bound itself may have been rounded up.
    return whole >= static_cast<Real>(Limits::max()) ? Limits::max() : static_cast<T>(whole);
  }
}

template <class T>
T load(const std::byte* base, std::size_t i) {
  T value;
  std::memcpy(&value, base + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* base, std::size_t i, T value) {
  std::memcpy(base + i * sizeof(T), &value, sizeof(T));
}

/// Calls `visit` with a T{} of the dtype, and returns its result.
template <class Visit>
decltype(auto) visit_dtype(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::f64:
      return visit(double{});
    case Dtype::f32:
      return visit(float{});
    case Dtype::f16:
      return visit(F16{});
    case Dtype::bf16:
      return visit(Bf16{});
    case Dtype::f8e4m3:
      return visit(F8e4m3{});
    case Dtype::f8e5m2:
      return visit(F8e5m2{});
    case Dtype::i64:
      return visit(std::int64_t{});
    case Dtype::i32:
      return visit(std::int32_t{});
    case Dtype::i8:
      return visit(std::int8_t{});
    case Dtype::u8:
      return visit(std::uint8_t{});
    case Dtype::boolean:
      break;
  }
  return visit(Boolean{});
}

/// Replaces each real of a tensor by `change` of it as a double.
template <class Change>
void change_reals(Dtype dtype, Bytes& bytes, const Change& change) {
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (RealType<T>)
      for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        const auto x = static_cast<double>(widened(load<T>(bytes.data(), i)));
        store(bytes.data(), i, element_from<T>(change(x)));
      }
  });
}

}  // namespace kernelsmith::truth
