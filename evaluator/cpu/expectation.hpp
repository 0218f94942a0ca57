// What must come of one set of inputs, element by element, from what the oracle answered.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "answers.hpp"
#include "bank.hpp"
#include "budget.hpp"

namespace kernelsmith {

/// Keeps the limit from being zero where nothing is to be judged.
inline constexpr double kLeastRmsLimit = 1e-12;

/// A tensor of few elements scatters more about its RMS. Where nothing but that counts, it has room enough
/// for most of it.
inline double allowance_for_few(std::size_t elements, bool normwise) {
  const double scatter = 1 + 4 / std::sqrt(static_cast<double>(elements));
  return normwise ? std::min(scatter, 2.0) : scatter;
}

/// The RMS of a function over the elements whose truth is finite.
template <class Declared, class Real, class Function>
double rms_over_finite(const Answers<Real>& answers, std::size_t elements, const Function& function) {
  const auto rms = [&]<class Sum>(Sum) {
    MeanSquare<Sum> all;
    for (std::size_t i = 0; i < elements; ++i)
      if (std::isfinite(static_cast<Declared>(answers.plain(i)))) all.add(function(i));
    return all.root();
  };
  const double usual = rms(double{});
  return std::isfinite(usual) ? usual : rms(static_cast<long double>(0));
}

/// What the elements of an output may be off.
struct Budgets {
  Budget plain;
  Budget beside_specials;
  std::vector<bool> touched = {};  ///< by element: special values change it; empty where there are none

  const Budget& of(std::size_t i) const { return !touched.empty() && touched[i] ? beside_specials : plain; }
};

/// Expected values and weights in the declared type.
template <class Declared, class Weight, class Real>
Expected expected_from(const Answers<Real>& answers, Scale scale, std::size_t elements, Dtype dtype,
                       const Budgets& budgets, bool normwise) {
  constexpr double kMostWeight = static_cast<double>(std::numeric_limits<Weight>::max()) / 4;
  /// No budget is beyond the largest number, so that whatever is finite is judged.
  constexpr double kMost = static_cast<double>(std::numeric_limits<Weight>::max()) / 4;
  const auto inputs_rounded = [&](std::size_t i, double granted) {
    if (granted == 0) return 0.0;
    return granted * (scale == Scale::sensitivity ? answers.sensitivity(i) : answers.scale(scale, i));
  };
  const auto allowed_rms = [&](std::size_t i) {
    const Budget& budget = budgets.of(i);
    return budget.rms * answers.reach(i) +
           (budget.rounded_inputs_rms == 0 ? 0 : budget.rounded_inputs_rms * answers.sensitivity(i)) +
           budget.tiny;
  };
  const double norm = normwise ? rms_over_finite<Declared>(answers, elements, allowed_rms) : 0;
  const auto weight = [&](std::size_t i) {
    const Budget& budget = budgets.of(i);
    const double allowed = normwise ? norm
                                    : budget.element * answers.scale(scale, i) +
                                          inputs_rounded(i, budget.rounded_inputs) + budget.tiny;
    return std::min(1 / std::min(allowed, kMost), kMostWeight);
  };

  Expected expected;
  expected.dtype = dtype;
  expected.per_element = !normwise;
  expected.wide_weights = sizeof(Weight) > sizeof(Declared);
  expected.values.resize(elements * sizeof(Declared));
  expected.weights.resize(elements * sizeof(Weight));
  for (std::size_t i = 0; i < elements; ++i) {
    const auto truth = static_cast<Declared>(answers.plain(i));
    const bool finite = std::isfinite(truth);
    expected.judged += finite ? 1U : 0U;
    store(expected.values.data(), i, truth);
    store(expected.weights.data(), i, static_cast<Weight>(finite ? weight(i) : 0));
  }
  const double rms = normwise ? 1 : rms_over_finite<Declared>(answers, elements, [&](std::size_t i) {
    return allowed_rms(i) * weight(i);
  });
  expected.rms_limit = rms * allowance_for_few(std::max<std::size_t>(expected.judged, 1), normwise);
  if (!normwise) expected.rms_limit = std::clamp(expected.rms_limit, kLeastRmsLimit, 1.0);
  return expected;
}

}  // namespace kernelsmith
