// The error budget of docs/backend-cpu.md: c * u * S for each element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// How an element's scale S comes about.
enum class Scale {
  absolute,     ///< the oracle of the inputs' absolute values: |A||B| for sums of products
  sensitivity,  ///< |y| and how y answers to relative perturbations of the inputs: for everything else
};

/// The unit roundoff that a task's tolerance grants for a dtype.
inline double unit_roundoff(const Task& task, Dtype dtype) {
  double u = dtype == Dtype::f64 ? 0x1p-53 : 0x1p-24;
  for (const std::string& allowed : task.tolerance.allow) {
    if (allowed == "tf32") u = std::max(u, 0x1p-14);
    if (allowed == "f16_accumulate") u = std::max(u, 0x1p-13);
    if (allowed == "bf16_accumulate") u = std::max(u, 0x1p-11);
  }
  return u;
}

/// c: the multiple of u * S that an element may be off. The rounding errors of a sum of n terms in the
/// plainest order grow like sqrt(n), and by more where small terms follow a large one; `longest` bounds n by
/// the longest dimension of an input.
inline double budget_factor(Scale scale, std::size_t longest) {
  constexpr double kLeast = 64;
  const double root = std::sqrt(static_cast<double>(longest));
  return std::max(kLeast, (scale == Scale::absolute ? 4 : 8) * root);
}

}  // namespace kernelsmith
