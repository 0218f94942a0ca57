// The C++ types for Dtypes, so that hot loops can be templates.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/bytes.hpp>

namespace kernelsmith::truth {

/// A real in at most 16 bits: sign, `kExponent` bits of exponent, `kMantissa` of mantissa. `kInfinite`: the
/// highest exponent is that of infinity and NaN; else (OCP's f8e4m3) only all ones are NaN.
template <class Word, int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallReal {
  static constexpr int kMantissa = kMantissaBits, kExponent = kExponentBits;
  static constexpr bool kInfinite = kHasInfinity;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kSign = 1U << (kExponent + kMantissa);
  static constexpr unsigned kNan = kInfinite ? kSign - (1U << (kMantissa - 1)) : kSign - 1;  ///< quiet NaN
  static constexpr unsigned kInfinity = kSign - (1U << kMantissa);            ///< infinity, if there is one
  static constexpr unsigned kHighest = kInfinite ? kInfinity - 1 : kNan - 1;  ///< finite

  Word bits = 0;
};

using F16 = SmallReal<std::uint16_t, 5, 10, true>;
using Bf16 = SmallReal<std::uint16_t, 8, 7, true>;
using F8e4m3 = SmallReal<std::uint8_t, 4, 3, false>;
using F8e5m2 = SmallReal<std::uint8_t, 5, 2, true>;
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
    const unsigned magnitude = value.bits & (T::kSign - 1);
    const unsigned sign = (value.bits & T::kSign) == 0 ? 0 : 0x80000000U;
    // Exact: the product of a power of two and a float that may be denormal.
    constexpr float kScale = std::bit_cast<float>(static_cast<unsigned>(254 - T::kBias) << 23U);
    float x = std::bit_cast<float>(magnitude << (23 - T::kMantissa)) * kScale;
    if (T::kInfinite && magnitude >= T::kInfinity)
      x = std::bit_cast<float>(magnitude == T::kInfinity ? 0x7f800000U : 0x7fc00000U);
    if (!T::kInfinite && magnitude == T::kNan) x = std::bit_cast<float>(0x7fc00000U);
    return std::bit_cast<float>(std::bit_cast<unsigned>(x) | sign);
  } else if constexpr (std::same_as<T, Boolean>) {
    return value.bits == 0 ? 0 : 1;
  } else {
    return value;
  }
}

/// Rounds to nearest, ties to even, directly from the value, never twice.
template <SmallRealType T, std::floating_point Real>
T small_real_from(Real value) {
  const unsigned sign = std::signbit(value) ? T::kSign : 0;
  const auto with_sign = [&](unsigned bits) {
    T result;
    result.bits = static_cast<decltype(result.bits)>(bits | sign);
    return result;
  };
  constexpr unsigned kOverflow = T::kInfinite ? T::kInfinity : T::kNan;
  const Real magnitude = std::fabs(value);
  if (std::isnan(value)) return with_sign(T::kNan);
  if (std::isinf(value)) return with_sign(kOverflow);
  if (magnitude == 0) return with_sign(0);
  // Counted in units of the last place, which are the same for denormals and the smallest normal numbers.
  const int exponent = std::max(std::ilogb(magnitude), 1 - T::kBias);
  if (exponent > T::kBias + 1) return with_sign(kOverflow);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, T::kMantissa - exponent)));
  // A carry out of the mantissa is the next exponent.
  const unsigned bits = (static_cast<unsigned>(exponent + T::kBias - 1) << T::kMantissa) + units;
  return with_sign(bits > T::kHighest ? kOverflow : bits);
}

/// Converts `value` to T: reals to nearest; integers to nearest even and saturated; a bool is true unless 0.
template <class T, std::floating_point Real>
T element_from(Real value) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(value);
  } else if constexpr (SmallRealType<T>) {
    return small_real_from<T>(value);
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
