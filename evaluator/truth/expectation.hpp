// Computes the expected output from the oracles' answers. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/expected.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "truth/budget.hpp"
#include "truth/elements.hpp"
#include "truth/evidence.hpp"

namespace kernelsmith::truth {

/// The mean square of the finite values. The squares of all doubles fit in a long double.
class MeanSquare {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    sum_ += static_cast<long double>(value) * static_cast<long double>(value);
    ++count_;
  }
  double root() const {
    return static_cast<double>(std::sqrt(sum_ / static_cast<long double>(std::max<std::size_t>(count_, 1))));
  }

 private:
  long double sum_ = 0;
  std::size_t count_ = 0;
};

/// The number of elements that share an e, the reference's largest error among them: a row (the last
/// dimension) of 64 to 1024 elements, else 1024 elements. Fewer are not enough, more are too different.
inline std::size_t block_of(const TensorExtent& extent) {
  constexpr std::size_t kLeast = 64, kMost = 1024;
  if (extent.shape.size() < 2) return kMost;
  const auto row = static_cast<std::size_t>(extent.shape.back());
  return row >= kLeast && row <= kMost ? row : kMost;
}

/// The rule for judging a tensor's elements.
struct Rule {
  const Tolerance& tolerance;
  Dtype dtype;
  Scale scale;
  Budget budget;
  std::size_t block;
};

/// Builds one tensor's Expected. T is the type of its elements, Real that of the truth.
template <class T, class Real>
class Expectation {
 public:
  Expectation(const Rule& rule, const Evidence<Real>& evidence, const std::byte* reference)
      : rule_(rule), evidence_(evidence), reference_(reference) {}

  Expected make() {
    expected_.dtype = rule_.dtype;
    // The reciprocal of a budget near the smallest f32 or bf16 exceeds the largest f32.
    expected_.wide_weights = std::is_same_v<T, double> || rule_.budget.tiny < 1e-37;
    take_values();
    if (rule_.tolerance.policy == "normwise")
      judge_normwise();
    else if (rule_.tolerance.policy == "allclose")
      weigh([&](std::size_t i) { return rule_.tolerance.atol + rule_.tolerance.rtol * stored(i); });
    else
      judge_elements();
    return std::move(expected_);
  }

 private:
  std::size_t elements() const { return evidence_.truth.size(); }

  /// The magnitude of the truth as an element of T, which is all that a comparison sees of it.
  double stored(std::size_t i) const {
    return std::fabs(static_cast<double>(widened(load<T>(expected_.values.data(), i))));
  }

  bool is_judged(std::size_t i) const { return !std::isnan(own_error_[i]); }

  /// If only one of truth and reference is finite, any result passes: a finite value is stored with weight 0.
  void take_values() {
    expected_.values.resize(elements() * sizeof(T));
    own_error_.assign(elements(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < elements(); ++i) {
      T value = element_from<T>(evidence_.truth[i]);
      const auto y = widened(value), r = widened(load<T>(reference_, i));
      if (std::isfinite(y) && std::isfinite(r)) {
        const auto error = static_cast<double>(std::fabs(static_cast<Real>(r) - evidence_.truth[i]));
        own_error_[i] = std::max(error, evidence_.tried_error);
        ++expected_.judged;
      } else if (std::isnan(y) ? !std::isnan(r) : std::isinf(y) && y != r) {
        value = T{};
      }
      store(expected_.values.data(), i, value);
    }
  }

  double granted(std::size_t i) const {
    const double magnitude = evidence_.magnitude(i), sensitivity = evidence_.sensitivity(i);
    return rule::granted(rule_.budget, magnitude, sensitivity,
                         rule_.scale == Scale::spread ? magnitude : sensitivity);
  }

  template <class Function>
  double rms_over_judged(const Function& function) const {
    MeanSquare all;
    for (std::size_t i = 0; i < elements(); ++i)
      if (is_judged(i)) all.add(function(i));
    return all.root();
  }

  /// Stores 1 / allowed(i), within the range of weights, so that all finite values are judged.
  template <class Function>
  void weigh(const Function& allowed) {
    expected_.wide_weights ? weigh_as<double>(allowed) : weigh_as<float>(allowed);
  }
  template <class Weight, class Function>
  void weigh_as(const Function& allowed) {
    constexpr double kMost = static_cast<double>(std::numeric_limits<Weight>::max()) / 4;
    expected_.weights.resize(elements() * sizeof(Weight));
    for (std::size_t i = 0; i < elements(); ++i) {
      const double weight = is_judged(i) ? std::min(1 / std::min(allowed(i), kMost), kMost) : 0;
      store(expected_.weights.data(), i, static_cast<Weight>(weight));
    }
  }
  double weight(std::size_t i) const {
    const std::byte* const weights = expected_.weights.data();
    return expected_.wide_weights ? load<double>(weights, i) : static_cast<double>(load<float>(weights, i));
  }

  void judge_elements() {
    const std::vector<double> e = errors_by_block();
    weigh([&](std::size_t i) {
      const double scale = evidence_.scale(rule_.scale, i, stored(i));
      const double rounded = rule_.scale == Scale::absolute ? scale
                             : rule_.scale == Scale::spread ? stored(i)
                                                            : evidence_.sensitivity(i);
      return rule::allowed(rule_.budget, scale, rounded, e[i / rule_.block]);
    });
    const double granted_rms = rms_over_judged([&](std::size_t i) { return granted(i) * weight(i); });
    const double own = rms_over_judged([&](std::size_t i) { return own_error_[i] * weight(i); });
    expected_.rms_limit = rule::rms_limit(granted_rms, own, static_cast<double>(expected_.judged));
  }

  void judge_normwise() {
    expected_.per_element = false;
    const double granted_rms = rms_over_judged([&](std::size_t i) { return granted(i); });
    const double own = rms_over_judged([&](std::size_t i) { return own_error_[i]; });
    weigh([norm = std::max(granted_rms, rule::kOwnRms * own)](std::size_t) { return norm; });
    expected_.rms_limit = rule::allowance_for_few(static_cast<double>(expected_.judged), true);
  }

  /// e, without the rounding of the output itself, which is largest for a row's largest element.
  std::vector<double> errors_by_block() const {
    const double unit = traits_of(rule_.dtype).unit_roundoff;
    std::vector<double> errors((elements() + rule_.block - 1) / rule_.block, 0.0);
    for (std::size_t i = 0; i < elements(); ++i) {
      double& most = errors[i / rule_.block];
      if (is_judged(i))
        most = std::max(most, rule::beyond_rounding(own_error_[i], unit, evidence_.magnitude(i)));
    }
    return errors;
  }

  const Rule& rule_;
  const Evidence<Real>& evidence_;
  const std::byte* reference_;
  std::vector<double> own_error_;  ///< |r - y*|, at least the tried error; NaN if nothing is judged
  Expected expected_;
};

/// `reference`: the answer of the reference in its own precision, elements of `rule.dtype`.
template <class Real>
Expected expected_from(const Rule& rule, const Evidence<Real>& evidence, const std::byte* reference) {
  return visit_dtype(rule.dtype, [&]<class T>(T) {
    if constexpr (RealType<T>)
      return Expectation<T, Real>(rule, evidence, reference).make();
    else
      return Expected{};
  });
}

}  // namespace kernelsmith::truth
