// The error budget of docs/tolerance.md: the tolerance of an element, and of a tensor as a whole.
#pragma once

#include <algorithm>
#include <cmath>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>

#include "measure/rule.h"

namespace kernelsmith::truth {

/// The definition of an element's scale S.
enum class Scale {
  absolute,     ///< the oracle's answer to the inputs' absolute values: |A||B| for sums of products
  sensitivity,  ///< |y| + D: for all other functions
  spread,       ///< |y| + D, with the RMS of y over a block for D: of sums, if only their values are known
};

/// The tolerance of an element in units of e, the reference's own error. If digits cancel, as in 1 + tanh(x),
/// another formula for the same function (tanh by exp) has errors up to 9 e. In types of at most 16 bits, 16
/// e would hide a wrong element.
inline constexpr double kOwnErrors = 16, kNarrowOwnErrors = 2;

using rule::Budget;

/// The tolerance of any sum, in units of roundoff: honest kernels with four orders of summation reach a
/// quarter of it.
inline constexpr double kLeastElement = 64, kLeastRms = 16;
/// The tolerance of a sum with more terms than this grows only with the root of their number. A larger
/// tolerance would hide that most terms are left out.
inline constexpr double kLongSum = 4096;
/// The additional factor under `normwise`, because Strassen's errors grow faster than a plain algorithm's.
inline constexpr double kNormwise = 4;
/// The tolerance for rounding to an output with fewer digits than f32, in its units: one and a half for the
/// rounding itself, the rest for earlier steps in that precision.
inline constexpr double kNarrowElement = 4, kNarrowRms = 1;

inline bool allows(const Task& task, const char* name) {
  return std::ranges::find(task.tolerance.allow, name) != task.tolerance.allow.end();
}

/// The loss that kernels may have near the smallest normal number: they flush to zero or clamp there and
/// multiply the result, unless inputs have denormals. Types of at most 16 bits with a small exponent are not
/// flushed, because their denormals are in common use.
inline double tiny_of(const Task& task, Dtype dtype) {
  const DtypeTraits& traits = traits_of(dtype);
  const bool denormals =
      std::ranges::any_of(task.tensors, [](const TensorSpec& tensor) { return tensor.specials.denormals; });
  // Types of few digits have few denormals.
  if (traits.bytes < 4 && (denormals || dtype != Dtype::bf16)) return 2 * traits.least_denormal;
  return denormals ? 64 * traits.least_denormal : 1024 * traits.least_normal;
}

/// The error of sums in the simplest order that are rounded at each step with unit roundoff `unit`.
inline void grant_sums(Budget& budget, double unit, double terms) {
  budget.element += unit * std::max(8.0, 2 * std::sqrt(terms));
  budget.rms += unit * std::max(2.0, std::sqrt(terms) / 2);
}

/// The budget of outputs that are sums of at most `terms` terms. A sum of products in the simplest order has
/// an RMS error of about sqrt(terms) / 4 units of |y| + D. In other functions terms can be nearly equal and
/// of one sign, as in softmax. Then every step rounds in the same direction, by up to a third of a unit for
/// each term.
inline Budget budget_of(const Task& task, Dtype dtype, Scale scale, double terms) {
  constexpr double kSingle = 0x1p-24, kTf32 = 0x1p-11, kHalf = 0x1p-11, kBfloat = 0x1p-8;
  const double root = std::sqrt(terms), one_way = std::min(terms, kLongSum);
  const double unit = traits_of(dtype).unit_roundoff, sums = std::min(unit, kSingle);
  const bool products = scale != Scale::sensitivity;
  Budget budget{};
  budget.own_errors = kOwnErrors;
  budget.element = sums * std::max({kLeastElement, 4 * root, products ? 0 : one_way});
  budget.rms = sums * std::max({kLeastRms, 2 * root, one_way / (products ? 16 : 4)});
  if (unit > kSingle) {
    // A spread says nothing of the steps before an output, so there only its own rounding counts, and e.
    const bool spread = scale == Scale::spread;
    (spread ? budget.rounded : budget.element) += kNarrowElement * unit;
    (spread ? budget.rounded_rms : budget.rms) += kNarrowRms * unit;
    budget.own_errors = kNarrowOwnErrors;
  }
  if (task.tolerance.policy == "normwise") budget.rms *= kNormwise;
  budget.tiny = tiny_of(task, dtype);
  if (allows(task, "tf32")) {
    // Rounding the inputs to 11 bits causes an error of 0.4 units of D.
    budget.rounded += 4 * kTf32;
    budget.rounded_rms += kTf32;
  }
  if (allows(task, "bf16")) {  // the declared precision of a torch task
    budget.rounded += 4 * kBfloat;
    budget.rounded_rms += kBfloat;
  }
  if (allows(task, "f16_accumulate")) grant_sums(budget, kHalf, terms);
  if (allows(task, "bf16_accumulate")) grant_sums(budget, kBfloat, terms);
  return budget;
}

}  // namespace kernelsmith::truth
