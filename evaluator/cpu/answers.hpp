// What the oracle answered to one set of inputs and to variants of it, and what that tells of each element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "budget.hpp"

namespace kernelsmith {

inline constexpr double kPerturbation = 0x1p-20;
/// For whole numbers besides: a function can jump at these (a floor, a comparison), where the smallest step
/// makes all of the jump, and would have it taken for what a roundoff can do.
inline constexpr double kCoarsePerturbation = 0x1p-11;
/// By how much more the two may differ where a function is smooth, by the chance of few samples.
inline constexpr double kJump = 8;
/// Independent perturbations for each element's sensitivity: few enough to be cheap, enough that all of them
/// being tiny by chance does not happen. Four are too few where one score moves a whole row, as in attention:
/// the budget of the row's small elements then falls below an honest kernel's error.
inline constexpr std::size_t kPerturbations = 8;

/// The variants of the inputs that the oracle sees, each in a slot of its own.
inline constexpr std::size_t kPlain = 0, kAbsolute = 1, kFirstPerturbed = 2;
inline constexpr std::size_t kAllVariants = kFirstPerturbed + kPerturbations;

template <class Element>
Element load(const std::byte* base, std::size_t i) {
  Element value;
  std::memcpy(&value, base + i * sizeof(Element), sizeof(Element));
  return value;
}

template <class Element>
void store(std::byte* base, std::size_t i, Element value) {
  std::memcpy(base + i * sizeof(Element), &value, sizeof(Element));
}

/// Rounds to so many significant bits.
template <class Real>
Real rounded(Real x, int bits) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const Real mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

/// Of what is finite. A long double holds squares beyond the largest double, and takes several times as long.
template <class Sum>
struct MeanSquare {
  Sum sum = 0;
  std::size_t count = 0;

  void add(double value) {
    if (!std::isfinite(value)) return;
    sum += static_cast<Sum>(value) * static_cast<Sum>(value);
    ++count;
  }
  double root() const {
    return static_cast<double>(std::sqrt(sum / static_cast<Sum>(std::max<std::size_t>(count, 1))));
  }
};

/// The promoted outputs of one tensor, by variant.
template <class Real>
class Answers {
 public:
  std::vector<const std::byte*> of;
  std::vector<double> per_step;  ///< by variant: 1 over how far its inputs were perturbed
  bool has_coarse = false;       ///< some of them by kCoarsePerturbation

  Real plain(std::size_t i) const { return load<Real>(of[kPlain], i); }
  double magnitude(std::size_t i) const { return std::fabs(static_cast<double>(plain(i))); }
  double absolute(std::size_t i) const {
    return std::fabs(static_cast<double>(load<Real>(of[kAbsolute], i)));
  }
  /// How it answers to relative perturbations. Where special inputs make a perturbed answer infinite, the
  /// others tell; where it jumps, the coarse ones. Most of a bank's time goes here.
  double sensitivity(std::size_t i) const {
    MeanSquare<double> all;
    for (std::size_t v = kFirstPerturbed; v < of.size(); ++v) all.add(change(v, i));
    return !has_coarse && std::isfinite(all.sum) ? all.root() : careful_sensitivity(i);
  }
  /// |y| + D.
  double reach(std::size_t i) const { return magnitude(i) + sensitivity(i); }
  double scale(Scale how, std::size_t i) const {
    if (how == Scale::sensitivity) return reach(i);
    const double bound = absolute(i);
    return std::isfinite(bound) ? std::max(bound, magnitude(i)) : magnitude(i);
  }

 private:
  double change(std::size_t v, std::size_t i) const {
    return static_cast<double>(load<Real>(of[v], i) - plain(i)) * per_step[v];
  }

  double careful_sensitivity(std::size_t i) const {
    MeanSquare<long double> fine, coarse;
    for (std::size_t v = kFirstPerturbed; v < of.size(); ++v)
      (per_step[v] < 1 / kPerturbation ? coarse : fine).add(change(v, i));
    if (coarse.count > 0 && fine.root() > kJump * coarse.root()) return coarse.root();
    return MeanSquare<long double>{fine.sum + coarse.sum, fine.count + coarse.count}.root();
  }
};

/// Sums of products show themselves: the absolute values' answer bounds the answer everywhere, is no more
/// than cancellation explains nearly everywhere (a sensitivity of few samples is now and then too small) and
/// nowhere more than chance does, and is not beyond what the answer reaches either, as where a function only
/// depends on its inputs' size. Zeros tell nothing.
template <class Real>
bool looks_like_sums(const Answers<Real>& answers, std::size_t elements) {
  constexpr double kSlack = 1 + 1e-9;
  constexpr double kMostCancellation = 64, kBeyondChance = 1024, kSteep = 8;
  constexpr double kExceptions = 0.02, kTelling = 0.25;
  std::size_t exceptions = 0, telling = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double absolute = answers.absolute(i), reach = answers.reach(i);
    if (!(answers.magnitude(i) <= absolute * kSlack)) return false;
    if (!(absolute <= kBeyondChance * reach) || !(reach <= kSteep * absolute)) return false;
    if (!(absolute <= kMostCancellation * reach)) ++exceptions;
    if (absolute > 0) ++telling;
  }
  const auto all = static_cast<double>(elements);
  return static_cast<double>(exceptions) <= kExceptions * all &&
         static_cast<double>(telling) >= kTelling * all;
}

}  // namespace kernelsmith
