// The arithmetic of docs/tolerance.md for single elements, and the reals of at most 16 bits. One text for the
// processor and for GPUs: it includes no header on a GPU, where KERNELSMITH_BOTH says for what a function is
// compiled.
#ifndef KERNELSMITH_RULE_H
#define KERNELSMITH_RULE_H

#ifndef KERNELSMITH_BOTH
#include <cmath>
#include <cstring>
#define KERNELSMITH_BOTH inline
namespace kernelsmith::rule {
using std::fabs;
using std::ilogb;
using std::ldexp;
using std::memcpy;
using std::nearbyint;
using std::sqrt;
}  // namespace kernelsmith::rule
#endif

namespace kernelsmith::rule {

/// The tolerance of an element is element * S + rounded * R + own_errors * e + tiny. What the RMS is granted
/// is that of rms * (|y*| + D) + rounded_rms * R + tiny, with R = D if the tolerance's R is S.
struct Budget {
  double element, rms;
  double rounded, rounded_rms;  ///< of inputs, and of outputs if S is a spread
  double own_errors;
  double tiny;  ///< absolute: the loss near the smallest number
};

KERNELSMITH_BOTH double allowed(const Budget& budget, double scale, double rounded, double own) {
  return budget.element * scale + budget.rounded * rounded + budget.own_errors * own + budget.tiny;
}

KERNELSMITH_BOTH double granted(const Budget& budget, double magnitude, double sensitivity, double rounded) {
  return budget.rms * (magnitude + sensitivity) + budget.rounded_rms * rounded + budget.tiny;
}

/// The reference's error at an element without the rounding of the output itself, which is largest for a
/// row's largest.
KERNELSMITH_BOTH double beyond_rounding(double error, double unit, double magnitude) {
  return error - unit * magnitude;
}

/// The RMS may always be this many times the reference's.
constexpr double kOwnRms = 2;

KERNELSMITH_BOTH double larger(double a, double b) { return a > b ? a : b; }
KERNELSMITH_BOTH double smaller(double a, double b) { return a < b ? a : b; }

/// The factor on the limit of the RMS, which scatters more for a tensor with few elements. If the RMS is the
/// only limit, the factor is at most 2.
KERNELSMITH_BOTH double allowance_for_few(double judged, bool only_limit) {
  const double scatter = 1 + 4 / sqrt(larger(judged, 1));
  return only_limit ? smaller(scatter, 2) : scatter;
}

/// The limit of the RMS of error / tolerance, of what is granted and of the reference's own.
KERNELSMITH_BOTH double rms_limit(double granted, double own, double judged) {
  constexpr double kLeast = 1e-12;  // The limit is not zero, even if nothing is judged.
  return larger(smaller(larger(granted, kOwnRms * own) * allowance_for_few(judged, false), 1), kLeast);
}

/// A real in at most 16 bits: sign, `kExponent` bits of exponent, `kMantissa` of mantissa. `kInfinite`: the
/// highest exponent is that of infinity and NaN; else (OCP's f8e4m3) only all ones are NaN.
template <class Bits, int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallReal {
  using Word = Bits;
  static constexpr int kMantissa = kMantissaBits, kExponent = kExponentBits;
  static constexpr bool kInfinite = kHasInfinity;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kSign = 1U << (kExponent + kMantissa);
  static constexpr unsigned kNan = kInfinite ? kSign - (1U << (kMantissa - 1)) : kSign - 1;  ///< quiet NaN
  static constexpr unsigned kInfinity = kSign - (1U << kMantissa);            ///< infinity, if there is one
  static constexpr unsigned kHighest = kInfinite ? kInfinity - 1 : kNan - 1;  ///< finite

  Word bits = 0;
};

using F16 = SmallReal<unsigned short, 5, 10, true>;
using Bf16 = SmallReal<unsigned short, 8, 7, true>;
using F8e4m3 = SmallReal<unsigned char, 4, 3, false>;
using F8e5m2 = SmallReal<unsigned char, 5, 2, true>;

KERNELSMITH_BOTH float float_of(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

KERNELSMITH_BOTH float widened(Bf16 x) { return float_of(static_cast<unsigned>(x.bits) << 16U); }
KERNELSMITH_BOTH float widened(float x) { return x; }
KERNELSMITH_BOTH double widened(double x) { return x; }
template <class Bits, int kExponent, int kMantissa, bool kInfinite>
KERNELSMITH_BOTH float widened(SmallReal<Bits, kExponent, kMantissa, kInfinite> value) {
  using T = SmallReal<Bits, kExponent, kMantissa, kInfinite>;
  const unsigned magnitude = value.bits & (T::kSign - 1);
  const unsigned sign = (value.bits & T::kSign) == 0 ? 0 : 0x80000000U;
  // Exact: the product of a power of two and a float that may be denormal.
  float x = float_of(magnitude << (23 - kMantissa)) * float_of(static_cast<unsigned>(254 - T::kBias) << 23U);
  if (kInfinite && magnitude >= T::kInfinity)
    x = float_of(magnitude == T::kInfinity ? 0x7f800000U : 0x7fc00000U);
  if (!kInfinite && magnitude == T::kNan) x = float_of(0x7fc00000U);
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  return float_of(bits | sign);
}

/// Rounds to nearest, ties to even, directly from the value, never twice.
template <class T, class Real>
struct Narrowing {
  KERNELSMITH_BOTH static T of(Real value) { return static_cast<T>(value); }
};
template <class Bits, int kExponent, int kMantissa, bool kInfinite, class Real>
struct Narrowing<SmallReal<Bits, kExponent, kMantissa, kInfinite>, Real> {
  using T = SmallReal<Bits, kExponent, kMantissa, kInfinite>;
  KERNELSMITH_BOTH static T of(Real value) {
    constexpr unsigned kOverflow = kInfinite ? T::kInfinity : T::kNan;
    const Real magnitude = fabs(value);
    const bool negative = value < 0 || (value == 0 && 1 / value < 0);
    T result;
    result.bits = static_cast<Bits>((negative ? T::kSign : 0U) | bits_of(magnitude, kOverflow));
    return result;
  }

 private:
  KERNELSMITH_BOTH static unsigned bits_of(Real magnitude, unsigned overflow) {
    if (magnitude != magnitude) return T::kNan;
    if (magnitude - magnitude != 0) return overflow;
    if (magnitude == 0) return 0;
    // Counted in units of the last place, which are the same for denormals and the smallest normal numbers.
    int exponent = ilogb(magnitude);
    if (exponent < 1 - T::kBias) exponent = 1 - T::kBias;
    if (exponent > T::kBias + 1) return overflow;
    const auto units = static_cast<unsigned>(nearbyint(ldexp(magnitude, kMantissa - exponent)));
    // A carry out of the mantissa is the next exponent.
    const unsigned bits = (static_cast<unsigned>(exponent + T::kBias - 1) << kMantissa) + units;
    return bits > T::kHighest ? overflow : bits;
  }
};

template <class T>
KERNELSMITH_BOTH bool is_finite(T x) {
  return x - x == 0;
}

/// Whether both have the same class and, if infinite, the same sign.
template <class T>
KERNELSMITH_BOTH bool same_class(T actual, T expected) {
  if (expected != expected) return actual != actual;
  return is_finite(expected) ? is_finite(actual) : actual == expected;
}

}  // namespace kernelsmith::rule

#endif
