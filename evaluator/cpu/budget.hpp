// The error budget of docs/backend-cpu.md: what an element may be off, and what all of a tensor may be off.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// How an element's scale S comes about.
enum class Scale {
  absolute,     ///< the oracle of the inputs' absolute values: |A||B| for sums of products
  sensitivity,  ///< |y| + D: for everything else
};

/// An element may be off by element * S + rounded_inputs * D + tiny, where D is how y answers to relative
/// perturbations of all inputs (S in its place where that is the inputs' absolute values' answer). The RMS
/// over a tensor may be that of rms * (|y| + D) + rounded_inputs_rms * D + tiny.
struct Budget {
  double element = 0;
  double rms = 0;
  double rounded_inputs = 0, rounded_inputs_rms = 0;
  double tiny = 0;  ///< absolute: what may be lost about the smallest number
};

/// The precision below the one that a task asks for, by its significant bits.
struct LowerPrecision {
  const char* name;
  int bits;
};

inline LowerPrecision lower_precision(const Task& task, Dtype dtype) {
  const auto allowed = [&](const char* name) {
    return std::ranges::find(task.tolerance.allow, name) != task.tolerance.allow.end();
  };
  if (allowed("bf16_accumulate")) return {"f8", 4};
  if (allowed("tf32") || allowed("f16_accumulate")) return {"bf16", 8};
  return dtype == Dtype::f64 ? LowerPrecision{"f32", 24} : LowerPrecision{"tf32", 11};
}

inline constexpr double unit_roundoff(Dtype dtype) { return dtype == Dtype::f64 ? 0x1p-53 : 0x1p-24; }

/// What a budget is in any case, in units of roundoff.
inline constexpr double kLeastElement = 64, kLeastRms = 16;

/// What the task's tolerance adds for sums that are rounded at each step, in the plainest order; `unit` is
/// the unit roundoff of the precision that it allows. Of long sums no more than what half of their terms
/// leave.
inline void grant_sums(Budget& budget, double unit, double terms, double half) {
  const double root = std::sqrt(terms);
  const double most = terms > kLeastElement ? half / 2 : std::numeric_limits<double>::infinity();
  budget.element = std::max(budget.element, std::min(budget.element + unit * std::max(8.0, 2 * root), most));
  budget.rms = std::max(budget.rms, std::min(budget.rms + unit * std::max(2.0, root / 2), most / 2));
}

inline void grant(Budget& budget, const std::string& allowed, double terms, double half) {
  // An error of 0.4 units of D.
  if (allowed == "tf32") {
    budget.rounded_inputs += 4 * 0x1p-11;
    budget.rounded_inputs_rms += 0x1p-11;
  }
  if (allowed == "f16_accumulate") grant_sums(budget, 0x1p-11, terms, half);
  if (allowed == "bf16_accumulate") grant_sums(budget, 0x1p-8, terms, half);
}

/// Under `normwise`, beyond what a conventional algorithm needs: Strassen's errors grow faster.
inline constexpr double kNormwise = 4;

/// A sum of more terms is granted no more for their rounding the same way.
inline constexpr double kLongSum = 4096;

/// Sums lose what is below half a unit of them, in the worst case at every step: a large term followed by
/// many small ones, as in softmax. Rounding errors of a sum of products in the plainest order are about 0.25
/// sqrt(terms) units of |y| + D in the RMS, which leaves honest kernels a factor of eight; those of inputs
/// rounded to 11 bits are 3000 (tests/evaluator/cpu, calibration_test). Where nearly equal terms of one sign
/// are added up, as in softmax, every step rounds the same way: up to a third of a unit for each term. Terms
/// that differ do not do so for long, and what a longer sum was granted for it would be room enough to leave
/// most of its terms out: the error of a sample falls with their number. Where half of the terms would be
/// enough, plain sums in one order are no better than those, and only what is added up in several sums
/// passes; nor is there room for half of a sum that is a small part of its output: an element has half of
/// what that costs, which a sample of an eighth is within in few sets of inputs, however few elements there
/// are. Beside one large term all others are lost, step by step and in one direction: a sum is granted that
/// for all of its terms, but no more than a part of what half of them cost, or what a sum of kLongSum terms
/// needs. `terms` bounds how many terms an output is the sum of; `half` is what leaving out every other one
/// costs, over S; `beside_specials` tells that special values are among what the output depends on.
inline Budget budget_of(const Task& task, Dtype dtype, Scale scale, double terms, double half,
                        bool beside_specials) {
  const double root = std::sqrt(terms);
  const bool wide = dtype == Dtype::f64;
  const double u = unit_roundoff(dtype);
  const auto declares = [&](bool Specials::*kind) {
    return std::ranges::any_of(task.tensors, [&](const TensorSpec& tensor) { return tensor.specials.*kind; });
  };
  const bool swallowed = beside_specials && declares(&Specials::large);
  const bool random_walk = scale == Scale::absolute && !swallowed;
  const double at_most_long = std::min(terms, kLongSum);
  const double in_step = swallowed ? terms : at_most_long;
  const double room = task.tolerance.policy == "normwise" ? kNormwise : 1;
  Budget budget;
  budget.element = u * std::max({kLeastElement, 4 * root, random_walk ? 0 : in_step});
  budget.rms = room * u * std::max({kLeastRms, 2 * root, in_step / (random_walk ? 16 : 4)});
  const double unlimited = swallowed ? at_most_long : 0;
  const double part = half / 4;
  budget.element =
      std::min(budget.element, std::max(u * std::max(kLeastElement, unlimited), swallowed ? part : half / 2));
  budget.rms = std::min(budget.rms, std::max(room * u * std::max(kLeastRms, unlimited / 4), part));
  // About the smallest normal number kernels may flush to zero or clamp, and multiply what they clamped,
  // unless denormals belong to the inputs.
  using Wide = std::numeric_limits<double>;
  using Narrow = std::numeric_limits<float>;
  budget.tiny = 1024 * (wide ? Wide::min() : static_cast<double>(Narrow::min()));
  if (declares(&Specials::denormals)) budget.tiny = 64 * static_cast<double>(Narrow::denorm_min());
  for (const std::string& allowed : task.tolerance.allow) grant(budget, allowed, terms, half);
  return budget;
}

}  // namespace kernelsmith
