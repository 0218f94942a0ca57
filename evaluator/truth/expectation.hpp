// What an output must be, from what the oracles answered. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <kernelsmith/evaluator/expected.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "truth/budget.hpp"
#include "truth/elements.hpp"

namespace kernelsmith::truth {

/// What a wide oracle, computing with Reals, told of one real output.
template <class Real>
struct Evidence {
  std::vector<Real> truth;       ///< y*
  std::vector<double> absolute;  ///< the answer to the inputs' absolute values; empty: not asked
  std::vector<double> squares;   ///< of the changes by perturbed inputs over their step, added up
  std::size_t perturbations = 0;
  double tried_error = 0;  ///< the most that the reference was off on perturbed inputs; 0: not tried

  void set_truth(const std::byte* answer, std::size_t elements) {
    truth.resize(elements);
    std::memcpy(truth.data(), answer, elements * sizeof(Real));
    squares.assign(elements, 0.0);
  }
  void set_absolute(const std::byte* answer) {
    absolute.resize(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
      absolute[i] = std::fabs(static_cast<double>(load<Real>(answer, i)));
  }
  /// Where special values make an answer infinite, the others tell.
  void add_perturbed(const std::byte* answer, double step) {
    ++perturbations;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double change = static_cast<double>(load<Real>(answer, i) - truth[i]) / step;
      if (const double square = change * change; std::isfinite(square)) squares[i] += square;
    }
  }

  double magnitude(std::size_t i) const { return std::fabs(static_cast<double>(truth[i])); }
  /// D: how it answers to relative perturbations of all inputs.
  double sensitivity(std::size_t i) const {
    return perturbations == 0 ? 0 : std::sqrt(squares[i] / static_cast<double>(perturbations));
  }
  double reach(std::size_t i) const { return magnitude(i) + sensitivity(i); }
  /// S.
  double scale(Scale how, std::size_t i) const {
    if (how == Scale::sensitivity) return reach(i);
    return std::isfinite(absolute[i]) ? std::max(absolute[i], magnitude(i)) : magnitude(i);
  }
};

/// Of what is finite. A long double holds the squares of all doubles.
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

/// The elements that share an e, the most that the reference is off among them: a row (the last dimension) of
/// 64 to 1024 elements, else 1024 elements; fewer say too little, more are no longer alike.
inline std::size_t block_of(const TensorExtent& extent) {
  constexpr std::size_t kLeast = 64, kMost = 1024;
  if (extent.shape.size() < 2) return kMost;
  const auto row = static_cast<std::size_t>(extent.shape.back());
  return row >= kLeast && row <= kMost ? row : kMost;
}

/// A tensor of few elements scatters more about its RMS. Under `normwise` that is all there is, so no more
/// than twice.
inline double allowance_for_few(std::size_t elements, bool normwise) {
  const double scatter = 1 + 4 / std::sqrt(static_cast<double>(std::max<std::size_t>(elements, 1)));
  return normwise ? std::min(scatter, 2.0) : scatter;
}

/// How a tensor's elements are judged.
struct Rule {
  const Tolerance& tolerance;
  Dtype dtype;
  Scale scale;
  Budget budget;
  std::size_t block;
};

/// One tensor's Expected in the making. T: its elements, Real: the truth's.
template <class T, class Real>
class Expectation {
 public:
  Expectation(const Rule& rule, const Evidence<Real>& evidence, const std::byte* reference)
      : rule_(rule), evidence_(evidence), reference_(reference) {}

  Expected make() {
    expected_.dtype = rule_.dtype;
    // The reciprocal of a budget about the smallest f32 is beyond the largest.
    expected_.wide_weights =
        std::is_same_v<T, double> || (std::is_same_v<T, float> && rule_.budget.tiny < 1e-37);
    take_values();
    if (rule_.tolerance.policy == "normwise")
      judge_normwise();
    else if (rule_.tolerance.policy == "allclose")
      weigh([&](std::size_t i) { return rule_.tolerance.atol + rule_.tolerance.rtol * evidence_.magnitude(i); });
    else
      judge_elements();
    return std::move(expected_);
  }

 private:
  std::size_t elements() const { return evidence_.truth.size(); }

  /// |r - y*|; NaN where nothing is judged: the truth or the reference is not finite.
  double own_error(std::size_t i) const {
    const auto r = static_cast<Real>(widened(load<T>(reference_, i)));
    const T truth = load<T>(expected_.values.data(), i);
    return std::isfinite(widened(truth)) ? static_cast<double>(std::fabs(r - evidence_.truth[i]))
                                         : std::numeric_limits<double>::quiet_NaN();
  }
  bool is_judged(std::size_t i) const { return std::isfinite(own_error(i)); }

  /// Where only one of truth and reference is finite, the truth is recorded as finite with a weight of 0:
  /// nothing can be asked of a kernel there.
  void take_values() {
    expected_.values.resize(elements() * sizeof(T));
    for (std::size_t i = 0; i < elements(); ++i) {
      T value = element_from<T>(evidence_.truth[i]);
      const auto r = widened(load<T>(reference_, i));
      const auto y = widened(value);
      const bool same_class = std::isfinite(y) || (std::isnan(y) ? std::isnan(r) : y == r);
      if (!same_class) value = T{};
      store(expected_.values.data(), i, value);
      expected_.judged += same_class && is_judged(i) ? 1U : 0U;
    }
  }

  double allowed_rms(std::size_t i) const {
    const Budget& budget = rule_.budget;
    return budget.rms * evidence_.reach(i) + budget.rounded_inputs_rms * evidence_.sensitivity(i) + budget.tiny;
  }

  template <class Function>
  double rms_over_judged(const Function& function) const {
    MeanSquare all;
    for (std::size_t i = 0; i < elements(); ++i)
      if (is_judged(i)) all.add(function(i));
    return all.root();
  }

  /// Stores 1 / allowed(i), within what a weight holds, so that whatever is finite is judged.
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
    const Budget& budget = rule_.budget;
    const std::vector<double> e = errors_by_block();
    weigh([&](std::size_t i) {
      const double rounded = rule_.scale == Scale::absolute ? evidence_.scale(rule_.scale, i)
                                                            : evidence_.sensitivity(i);
      return budget.element * evidence_.scale(rule_.scale, i) + budget.rounded_inputs * rounded +
             2 * e[i / rule_.block] + budget.tiny;
    });
    const double granted = rms_over_judged([&](std::size_t i) { return allowed_rms(i) * weight(i); });
    const double own = rms_over_judged([&](std::size_t i) { return own_error(i) * weight(i); });
    constexpr double kLeast = 1e-12;  // Not zero where nothing is to be judged.
    expected_.rms_limit =
        std::clamp(std::max(granted, 2 * own) * allowance_for_few(expected_.judged, false), kLeast, 1.0);
  }

  void judge_normwise() {
    expected_.per_element = false;
    const double granted = rms_over_judged([&](std::size_t i) { return allowed_rms(i); });
    const double own = rms_over_judged([&](std::size_t i) { return own_error(i); });
    weigh([norm = std::max(granted, 2 * own)](std::size_t) { return norm; });
    expected_.rms_limit = allowance_for_few(expected_.judged, true);
  }

  std::vector<double> errors_by_block() const {
    std::vector<double> errors((elements() + rule_.block - 1) / rule_.block, evidence_.tried_error);
    for (std::size_t i = 0; i < elements(); ++i) {
      double& most = errors[i / rule_.block];
      if (const double error = own_error(i); std::isfinite(error)) most = std::max(most, error);
    }
    return errors;
  }

  const Rule& rule_;
  const Evidence<Real>& evidence_;
  const std::byte* reference_;
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
